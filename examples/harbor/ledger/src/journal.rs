//! Transactions, and the ledger they are posted to.

use std::collections::BTreeMap;

use crate::account::Account;
use crate::error::{LedgerError, Result};
use crate::money::{Currency, Money};
use crate::transaction;

/// One side of a booking. Amounts are positive; the sign is in the constructor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    account: Account,
    amount: Money,
    is_debit: bool,
}

impl Entry {
    /// An entry on the left.
    pub fn debit(account: Account, amount: Money) -> Self {
        Self {
            account,
            amount,
            is_debit: true,
        }
    }

    /// An entry on the right.
    pub fn credit(account: Account, amount: Money) -> Self {
        Self {
            account,
            amount,
            is_debit: false,
        }
    }

    /// Debits count as positive, credits as negative.
    fn signed(&self) -> Money {
        if self.is_debit {
            self.amount
        } else {
            -self.amount
        }
    }

    /// The change of the account's own balance.
    fn effect(&self) -> Money {
        if self.is_debit == self.account.kind().grows_with_debit() {
            self.amount
        } else {
            -self.amount
        }
    }
}

/// A set of entries that belong together and have to balance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    memo: String,
    entries: Vec<Entry>,
}

impl Transaction {
    /// Creates a transaction; it is checked when it is posted.
    pub fn new(memo: impl Into<String>, entries: Vec<Entry>) -> Self {
        Self {
            memo: memo.into(),
            entries,
        }
    }

    /// What the transaction is about.
    pub fn memo(&self) -> &str {
        &self.memo
    }

    /// Whether debits equal credits.
    pub fn is_balanced(&self) -> bool {
        matches!(self.imbalance(), Ok(difference) if difference.minor() == 0)
    }

    fn imbalance(&self) -> Result<Money> {
        let (first, rest) = self.entries.split_first().ok_or(LedgerError::Malformed)?;
        rest.iter()
            .try_fold(first.signed(), |sum, entry| sum.checked_add(entry.signed()))
    }
}

/// An append-only journal together with the balances it leads to.
#[derive(Debug, Default)]
pub struct Ledger {
    journal: Vec<Transaction>,
    balances: BTreeMap<Account, Money>,
}

impl Ledger {
    /// An empty ledger.
    pub fn new() -> Self {
        Self::default()
    }

    /// Posts a transaction, all of it or nothing.
    ///
    /// # Errors
    ///
    /// Fails when the transaction is unbalanced, mixes currencies or overdraws an account.
    pub fn post(&mut self, transaction: Transaction) -> Result<()> {
        if transaction
            .entries
            .iter()
            .any(|entry| !entry.amount.is_positive())
        {
            return Err(LedgerError::Malformed);
        }
        let difference = transaction.imbalance()?;
        if difference.minor() != 0 {
            return Err(LedgerError::Unbalanced(difference));
        }
        let mut changed: BTreeMap<Account, Money> = BTreeMap::new();
        for entry in &transaction.entries {
            let before = changed.get(&entry.account).copied();
            let before =
                before.unwrap_or_else(|| self.balance(&entry.account, entry.amount.currency()));
            changed.insert(entry.account.clone(), before.checked_add(entry.effect())?);
        }
        for (account, &balance) in &changed {
            if account.kind().must_stay_positive() && balance.minor() < 0 {
                return Err(LedgerError::Overdrawn {
                    account: account.clone(),
                    missing: -balance,
                });
            }
        }
        self.balances.extend(changed);
        self.journal.push(transaction);
        Ok(())
    }

    /// The balance of an account; zero for one that was never used.
    pub fn balance(&self, account: &Account, currency: Currency) -> Money {
        self.balances
            .get(account)
            .copied()
            .unwrap_or(Money::zero(currency))
    }

    /// Money held for a parcel, if any.
    pub fn held_for(&self, parcel: &str) -> Option<Money> {
        let held = self
            .balances
            .get(&Account::Held(parcel.to_owned()))
            .copied();
        held.filter(|amount| amount.is_positive())
    }

    /// All transactions, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Transaction> + '_ {
        self.journal.iter()
    }

    /// Checks that the books as a whole balance.
    pub fn trial_balance(&self) -> Result<()> {
        match self
            .journal
            .iter()
            .find(|transaction| !transaction.is_balanced())
        {
            Some(broken) => Err(LedgerError::Unbalanced(broken.imbalance()?)),
            None => Ok(()),
        }
    }
}

/// Books the payment for a parcel. The money is held until the parcel arrives.
pub fn charge_parcel(ledger: &mut Ledger, parcel: &str, payer: &str, price: Money) -> Result<()> {
    ledger.post(transaction!(format!("{parcel} paid by {payer}");
        debit Account::Cash => price;
        credit Account::Held(parcel.to_owned()) => price;
    ))
}

/// Turns the money held for a parcel into revenue once it is delivered.
pub fn settle_delivery(ledger: &mut Ledger, parcel: &str) -> Result<Money> {
    let held = ledger
        .held_for(parcel)
        .ok_or_else(|| LedgerError::NothingHeld(parcel.to_owned()))?;
    ledger.post(transaction!(format!("{parcel} delivered");
        debit Account::Held(parcel.to_owned()) => held;
        credit Account::Revenue => held;
    ))?;
    Ok(held)
}
