/**
 * Shared domain types of the portal.
 *
 * They mirror the JSON that the gateway (Go) passes through from the pricing
 * engine (Python) and the ledger (Rust); see docs/architecture.md.
 */

/** How fast, and how expensively, a parcel travels. */
export enum ServiceLevel {
  Economy = "economy",
  Standard = "standard",
  Express = "express",
}

/** Life-cycle of a parcel, in the order in which the states are reached. */
export enum ParcelStatus {
  Draft = "draft",
  Paid = "paid",
  InTransit = "in_transit",
  Delivered = "delivered",
  Returned = "returned",
}

/** What a bearer of an access token may do. */
export const SCOPES = ["parcels:read", "parcels:write", "quotes:create", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

export interface Address {
  readonly country: string;
  readonly postcode: string;
  readonly city?: string;
}

/** Outer dimensions in millimetres. */
export type Dimensions = readonly [length: number, width: number, height: number];

export interface ParcelDraft {
  readonly origin: Address;
  readonly destination: Address;
  readonly weightGrams: number;
  readonly dimensions: Dimensions;
  readonly service: ServiceLevel;
}

export interface Parcel extends ParcelDraft {
  readonly id: string;
  readonly status: ParcelStatus;
  readonly price: Money;
  readonly createdAt: string;
}

/** An amount in the minor unit of its currency (cents for EUR). */
export interface Money {
  readonly minor: number;
  readonly currency: "EUR" | "GBP" | "USD";
}

/** One line of a price breakdown, as produced by `QuoteEngine.quote` in pricing/. */
export interface QuoteLine {
  readonly label: string;
  readonly amount: Money;
}

export interface Quote {
  readonly id: string;
  readonly total: Money;
  readonly lines: readonly QuoteLine[];
  readonly billableGrams: number;
  readonly expiresAt: string;
}

interface EventBase<K extends string> {
  readonly kind: K;
  readonly parcelId: string;
  readonly at: string;
}

/** Everything that can happen to a parcel, discriminated by `kind`. */
export type TrackingEvent =
  | (EventBase<"scanned"> & { readonly depot: string })
  | (EventBase<"delayed"> & { readonly reason: string; readonly hours: number })
  | (EventBase<"delivered"> & { readonly signedBy: string })
  | (EventBase<"returned"> & { readonly refund: Money });

export type TrackingKind = TrackingEvent["kind"];

/** A page of results with an opaque cursor; no cursor means the last page. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

/** Either a value or an error, for callers that prefer not to catch. */
export type Result<T, E extends Error = Error> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

/** Helpers for amounts; merged with nothing, used as `MoneyFormat.format(...)`. */
export namespace MoneyFormat {
  const symbols: Record<Money["currency"], string> = { EUR: "€", GBP: "£", USD: "$" };

  /** Formats an amount for people: `format({ minor: 1250, currency: "EUR" })` is "€12.50". */
  export function format(money: Money): string {
    const sign = money.minor < 0 ? "-" : "";
    const absolute = Math.abs(money.minor);
    const cents = String(absolute % 100).padStart(2, "0");
    return `${sign}${symbols[money.currency]}${Math.floor(absolute / 100)}.${cents}`;
  }

  /** Adds two amounts; mixing currencies is a programming error. */
  export function add(a: Money, b: Money): Money {
    if (a.currency !== b.currency) {
      throw new TypeError(`cannot add ${a.currency} to ${b.currency}`);
    }
    return { minor: a.minor + b.minor, currency: a.currency };
  }
}

export function isScope(value: unknown): value is Scope {
  return typeof value === "string" && (SCOPES as readonly string[]).includes(value);
}

/** True once nothing more will happen to the parcel. */
export function isFinal(status: ParcelStatus): boolean {
  return status === ParcelStatus.Delivered || status === ParcelStatus.Returned;
}
