//! Double-entry ledger of the Harbor platform.
//!
//! Every parcel that is paid for, delivered or returned leaves a balanced
//! [`Transaction`] in the [`Ledger`]. Amounts come from the quotes of the
//! pricing engine (`QuoteEngine` in `pricing/`) and are never recalculated.
//!
//! ```
//! use harbor_ledger::{charge_parcel, money, Ledger};
//!
//! let mut ledger = Ledger::new();
//! charge_parcel(&mut ledger, "pcl_1", "ada", money!(12.09 EUR)).unwrap();
//! assert!(ledger.trial_balance().is_ok());
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod macros;

pub mod account;
pub mod error;
pub mod journal;
pub mod money;
pub mod refund;

pub use account::{Account, AccountKind};
pub use error::{LedgerError, Result};
pub use journal::{charge_parcel, settle_delivery, Entry, Ledger, Transaction};
pub use money::{Currency, Money};
pub use refund::{refund_parcel, FlatFee, FullRefund, ProRata, RefundContext, RefundPolicy};
