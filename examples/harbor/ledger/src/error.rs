//! The one error type of the crate.

use std::error::Error;
use std::fmt;

use crate::account::Account;
use crate::money::{Currency, Money};

/// Result of ledger operations.
pub type Result<T, E = LedgerError> = std::result::Result<T, E>;

/// Why a booking was refused. A refused booking leaves the ledger unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LedgerError {
    /// Debits and credits differ by this amount.
    Unbalanced(Money),
    /// Two currencies met in one calculation.
    CurrencyMismatch(Currency, Currency),
    /// An account would fall below what its kind allows.
    Overdrawn {
        /// The account in question.
        account: Account,
        /// How much is missing.
        missing: Money,
    },
    /// The parcel was never charged, or has been settled already.
    NothingHeld(String),
    /// A transaction without entries, or with an amount that is not positive.
    Malformed,
    /// The amount does not fit into 64 bits.
    Overflow,
}

impl LedgerError {
    /// Whether the same booking may succeed later on.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Overdrawn { .. })
    }
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unbalanced(by) => write!(f, "debits and credits differ by {by}"),
            Self::CurrencyMismatch(a, b) => write!(f, "cannot mix {a:?} and {b:?}"),
            Self::Overdrawn { account, missing } => write!(f, "{account} lacks {missing}"),
            Self::NothingHeld(parcel) => write!(f, "no money is held for parcel {parcel}"),
            Self::Malformed => f.write_str("malformed transaction"),
            Self::Overflow => f.write_str("amount out of range"),
        }
    }
}

impl Error for LedgerError {}
