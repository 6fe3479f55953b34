//! Macros that make bookings readable.

/// Builds an amount from a literal: `money!(12.50 EUR)`.
///
/// The literal is parsed exactly, without going through floating point.
#[macro_export]
macro_rules! money {
    ($amount:literal $currency:ident) => {
        $crate::money::Money::parse(stringify!($amount), $crate::money::Currency::$currency)
            .expect("a money literal has at most two decimal places")
    };
}

/// Builds a transaction from `debit` and `credit` lines.
///
/// ```
/// use harbor_ledger::{money, transaction, Account};
///
/// let tx = transaction!("pcl_1 paid";
///     debit Account::Cash => money!(5.00 EUR);
///     credit Account::Revenue => money!(5.00 EUR);
/// );
/// assert!(tx.is_balanced());
/// ```
#[macro_export]
macro_rules! transaction {
    ($memo:expr; $($side:ident $account:expr => $amount:expr);+ $(;)?) => {
        $crate::journal::Transaction::new(
            $memo,
            vec![$($crate::journal::Entry::$side($account, $amount)),+],
        )
    };
}
