//! Where money can be.

use std::fmt;

/// An account of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Account {
    /// Harbor's bank account.
    Cash,
    /// Money earned with delivered parcels.
    Revenue,
    /// Compensation and goodwill paid to customers.
    Losses,
    /// What Harbor owes a customer.
    Customer(String),
    /// Money held for a parcel that is on its way, by parcel id.
    Held(String),
}

/// How an account behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountKind {
    /// Grows with debits; must not become negative.
    Asset,
    /// Grows with credits; must not become negative.
    Liability,
    /// Grows with credits; may take any value.
    Income,
    /// Grows with debits; may take any value.
    Expense,
}

impl Account {
    /// The kind that decides about sign and limits.
    pub fn kind(&self) -> AccountKind {
        match self {
            Self::Cash => AccountKind::Asset,
            Self::Customer(_) | Self::Held(_) => AccountKind::Liability,
            Self::Revenue => AccountKind::Income,
            Self::Losses => AccountKind::Expense,
        }
    }
}

impl AccountKind {
    /// Whether a debit makes the balance grow.
    pub const fn grows_with_debit(self) -> bool {
        matches!(self, Self::Asset | Self::Expense)
    }

    /// Whether a negative balance is refused.
    pub const fn must_stay_positive(self) -> bool {
        matches!(self, Self::Asset | Self::Liability)
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Customer(name) => write!(f, "customer:{name}"),
            Self::Held(parcel) => write!(f, "held:{parcel}"),
            other => f.write_str(&format!("{other:?}").to_lowercase()),
        }
    }
}
