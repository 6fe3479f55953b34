//! How much a customer gets back for a parcel that did not arrive.

use crate::account::Account;
use crate::error::{LedgerError, Result};
use crate::journal::{Entry, Ledger, Transaction};
use crate::money::Money;

/// What a policy may base its decision on.
#[derive(Debug, Clone, Copy)]
pub struct RefundContext {
    /// What the customer paid.
    pub paid: Money,
    /// Depots the parcel has passed.
    pub depots_passed: u32,
    /// Depots on the whole route.
    pub depots_total: u32,
}

/// Decides about the amount of a refund.
pub trait RefundPolicy {
    /// Short name for statements.
    const NAME: &'static str;

    /// The amount before limits are applied.
    fn amount(&self, context: &RefundContext) -> Money;

    /// The amount to pay back: never negative and never more than was paid.
    fn refundable(&self, context: &RefundContext) -> Money {
        let minor = self.amount(context).minor().clamp(0, context.paid.minor());
        Money::new(minor, context.paid.currency())
    }
}

/// Everything back: for parcels that Harbor lost.
#[derive(Debug, Clone, Copy, Default)]
pub struct FullRefund;

/// Everything but a handling fee: for cancellations before pick-up.
#[derive(Debug, Clone, Copy)]
pub struct FlatFee(pub Money);

/// The share of the route the parcel has not travelled: for returns on the way.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProRata;

impl RefundPolicy for FullRefund {
    const NAME: &'static str = "full";

    fn amount(&self, context: &RefundContext) -> Money {
        context.paid
    }
}

impl RefundPolicy for FlatFee {
    const NAME: &'static str = "flat fee";

    fn amount(&self, context: &RefundContext) -> Money {
        Money::new(
            context.paid.minor() - self.0.minor(),
            context.paid.currency(),
        )
    }
}

impl RefundPolicy for ProRata {
    const NAME: &'static str = "pro rata";

    fn amount(&self, context: &RefundContext) -> Money {
        let left = context.depots_total.saturating_sub(context.depots_passed);
        context.paid.fraction(left, context.depots_total)
    }
}

/// Refunds a parcel under a policy and keeps the rest as revenue.
///
/// Returns the amount the customer gets back.
pub fn refund_parcel<P: RefundPolicy>(
    ledger: &mut Ledger,
    parcel: &str,
    customer: &str,
    policy: &P,
    progress: (u32, u32),
) -> Result<Money> {
    let paid = ledger
        .held_for(parcel)
        .ok_or_else(|| LedgerError::NothingHeld(parcel.to_owned()))?;
    let (depots_passed, depots_total) = progress;
    let refund = policy.refundable(&RefundContext {
        paid,
        depots_passed,
        depots_total,
    });
    let kept = paid.checked_add(-refund)?;

    let credits = [
        (Account::Customer(customer.to_owned()), refund),
        (Account::Revenue, kept),
    ];
    let mut entries = vec![Entry::debit(Account::Held(parcel.to_owned()), paid)];
    entries.extend(
        credits
            .into_iter()
            .filter(|(_, amount)| amount.is_positive())
            .map(|(account, amount)| Entry::credit(account, amount)),
    );
    ledger.post(Transaction::new(
        format!("{parcel} returned, {} refund", P::NAME),
        entries,
    ))?;
    Ok(refund)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{charge_parcel, money, settle_delivery, Currency};

    fn paid_ledger() -> Ledger {
        let mut ledger = Ledger::new();
        charge_parcel(&mut ledger, "pcl_1", "ada", money!(12.00 EUR)).unwrap();
        ledger
    }

    #[test]
    fn pro_rata_refunds_the_part_not_travelled() {
        let mut ledger = paid_ledger();
        let refund = refund_parcel(&mut ledger, "pcl_1", "ada", &ProRata, (1, 4)).unwrap();
        assert_eq!(refund, money!(9.00 EUR));
        assert_eq!(
            ledger.balance(&Account::Revenue, Currency::EUR),
            money!(3.00 EUR)
        );
        ledger.trial_balance().unwrap();
    }

    #[test]
    fn a_fee_above_the_price_refunds_nothing() {
        let mut ledger = paid_ledger();
        let policy = FlatFee(money!(20 EUR));
        let refund = refund_parcel(&mut ledger, "pcl_1", "ada", &policy, (0, 4)).unwrap();
        assert_eq!(refund, Money::zero(Currency::EUR));
    }

    #[test]
    fn a_parcel_is_settled_or_refunded_but_not_both() {
        let mut ledger = paid_ledger();
        settle_delivery(&mut ledger, "pcl_1").unwrap();
        let again = refund_parcel(&mut ledger, "pcl_1", "ada", &FullRefund, (4, 4));
        assert_eq!(again, Err(LedgerError::NothingHeld("pcl_1".into())));
        assert_eq!(ledger.iter().count(), 2);
    }

    #[test]
    fn unbalanced_and_overdrawing_bookings_are_refused() {
        let mut ledger = Ledger::new();
        let lopsided = crate::transaction!("oops";
            debit Account::Cash => money!(5.00 EUR);
            credit Account::Revenue => money!(4.99 EUR);
        );
        assert_eq!(
            ledger.post(lopsided),
            Err(LedgerError::Unbalanced(money!(0.01 EUR)))
        );

        let overdraft = crate::transaction!("pay out";
            debit Account::Losses => money!(5.00 EUR);
            credit Account::Cash => money!(5.00 EUR);
        );
        assert!(ledger.post(overdraft).unwrap_err().is_retryable());
        assert_eq!(ledger.iter().count(), 0);
    }

    #[test]
    fn amounts_are_parsed_exactly() {
        assert_eq!(
            Money::parse("-0.5", Currency::USD).map(Money::minor),
            Some(-50)
        );
        assert_eq!(Money::parse("1.005", Currency::USD), None);
        assert_eq!(money!(12.09 EUR).to_string(), "12.09 EUR");
    }
}
