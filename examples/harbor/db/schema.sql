-- Shared schema of the Harbor platform (PostgreSQL 15).

BEGIN;

CREATE TYPE service_level AS ENUM ('economy', 'standard', 'express');
CREATE TYPE parcel_status AS ENUM ('draft', 'paid', 'in_transit', 'delivered', 'returned');

CREATE TABLE customers (
    id          text PRIMARY KEY,
    name        text NOT NULL,
    webhook_url text,
    created_at  timestamptz NOT NULL DEFAULT now()
);

-- Quotes are kept after they expire, to explain prices later on.
CREATE TABLE quotes (
    id             text PRIMARY KEY,
    customer_id    text NOT NULL REFERENCES customers (id),
    total_minor    bigint NOT NULL CHECK (total_minor > 0),
    currency       char(3) NOT NULL,
    billable_grams integer NOT NULL CHECK (billable_grams > 0),
    lines          jsonb NOT NULL,
    expires_at     timestamptz NOT NULL
);

CREATE TABLE parcels (
    id         text PRIMARY KEY,
    quote_id   text NOT NULL UNIQUE REFERENCES quotes (id),
    service    service_level NOT NULL DEFAULT 'standard',
    status     parcel_status NOT NULL DEFAULT 'draft',
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX parcels_open ON parcels (created_at) WHERE status NOT IN ('delivered', 'returned');

CREATE TABLE tracking_events (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    parcel_id text NOT NULL REFERENCES parcels (id),
    kind      text NOT NULL CHECK (kind IN ('scanned', 'delayed', 'delivered', 'returned')),
    at        timestamptz NOT NULL DEFAULT now(),
    data      jsonb NOT NULL DEFAULT '{}'
);

-- The queue of the gateway's webhook dispatcher; dead letters have buried_at set.
CREATE TABLE webhook_deliveries (
    event_id   bigint NOT NULL REFERENCES tracking_events (id),
    url        text NOT NULL,
    attempts   integer NOT NULL DEFAULT 0 CHECK (attempts <= 6),
    next_try   timestamptz NOT NULL DEFAULT now(),
    last_error text,
    buried_at  timestamptz,
    PRIMARY KEY (event_id, url)
);

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_try) WHERE buried_at IS NULL;

CREATE TABLE ledger_entries (
    transaction_id bigint NOT NULL,
    account        text NOT NULL,
    amount_minor   bigint NOT NULL CHECK (amount_minor <> 0),
    currency       char(3) NOT NULL,
    posted_at      timestamptz NOT NULL DEFAULT now()
);

-- Transactions whose debits (positive) and credits (negative) do not cancel out.
CREATE VIEW unbalanced_transactions AS
SELECT transaction_id, currency, sum(amount_minor) AS difference_minor
FROM ledger_entries
GROUP BY transaction_id, currency
HAVING sum(amount_minor) <> 0;

-- Moves a parcel on when it is scanned; final states never change.
CREATE FUNCTION apply_tracking_event() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE parcels
    SET status = CASE NEW.kind
        WHEN 'delivered' THEN 'delivered'::parcel_status
        WHEN 'returned' THEN 'returned'::parcel_status
        ELSE 'in_transit'::parcel_status
    END
    WHERE id = NEW.parcel_id AND status NOT IN ('delivered', 'returned');
    RETURN NEW;
END;
$$;

CREATE TRIGGER tracking_events_apply
AFTER INSERT ON tracking_events
FOR EACH ROW EXECUTE FUNCTION apply_tracking_event();

COMMIT;
