//! Exact amounts in minor units, the same as `pricing/harbor_pricing/money.py`.

use std::fmt;
use std::ops::Neg;

use crate::error::{LedgerError, Result};

/// The currencies Harbor takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Currency {
    /// Euro.
    EUR,
    /// Pound sterling.
    GBP,
    /// US dollar.
    USD,
}

/// An amount of money in the minor unit of its currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    minor: i64,
    currency: Currency,
}

impl Money {
    /// Creates an amount from minor units, for example cents.
    pub const fn new(minor: i64, currency: Currency) -> Self {
        Self { minor, currency }
    }

    /// Nothing, in a currency.
    pub const fn zero(currency: Currency) -> Self {
        Self::new(0, currency)
    }

    /// Parses a decimal number with at most two places; `None` if it is not one.
    pub fn parse(text: &str, currency: Currency) -> Option<Self> {
        let (units, cents) = text.split_once('.').unwrap_or((text, ""));
        if cents.len() > 2 || !cents.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let units: i64 = units.parse().ok()?;
        let cents: i64 = format!("{cents:0<2}").parse().ok()?;
        let sign = if text.starts_with('-') { -1 } else { 1 };
        let minor = units.checked_mul(100)?.checked_add(sign * cents)?;
        Some(Self::new(minor, currency))
    }

    /// The amount in minor units.
    pub const fn minor(self) -> i64 {
        self.minor
    }

    /// The currency of the amount.
    pub const fn currency(self) -> Currency {
        self.currency
    }

    /// Whether the amount is above zero.
    pub const fn is_positive(self) -> bool {
        self.minor > 0
    }

    /// Adds two amounts of the same currency.
    pub fn checked_add(self, other: Self) -> Result<Self> {
        if self.currency != other.currency {
            return Err(LedgerError::CurrencyMismatch(self.currency, other.currency));
        }
        let minor = self
            .minor
            .checked_add(other.minor)
            .ok_or(LedgerError::Overflow)?;
        Ok(Self::new(minor, self.currency))
    }

    /// A share of the amount, rounded towards zero.
    pub fn fraction(self, numerator: u32, denominator: u32) -> Self {
        let scaled =
            i128::from(self.minor) * i128::from(numerator) / i128::from(denominator.max(1));
        Self::new(scaled as i64, self.currency)
    }
}

impl Neg for Money {
    type Output = Self;

    fn neg(self) -> Self {
        Self::new(-self.minor, self.currency)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.minor < 0 { "-" } else { "" };
        let absolute = self.minor.unsigned_abs();
        write!(
            f,
            "{sign}{}.{:02} {:?}",
            absolute / 100,
            absolute % 100,
            self.currency
        )
    }
}
