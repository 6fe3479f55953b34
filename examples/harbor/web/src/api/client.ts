import type { Page, Parcel, ParcelDraft, Quote, TrackingEvent } from "../types";
import { traced } from "../util/decorators";
import { DEFAULT_RETRY, withRetry, type RetryOptions } from "./retry";

type Method = "GET" | "POST" | "DELETE";

/** The part of `fetch` the client needs. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

export interface ClientOptions {
  readonly baseUrl: string;
  /** Called before each request, so that a refreshed token is picked up. */
  readonly token: () => string | undefined;
  readonly fetch?: FetchLike;
  readonly retry?: RetryOptions;
}

/** A response outside of 2xx. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly path: string,
    readonly body: string,
  ) {
    super(`${path} answered ${status}`);
    this.name = "ApiError";
  }

  /** 429 and 5xx are worth another try, anything else is the caller's fault. */
  get transient(): boolean {
    return this.status === 429 || this.status >= 500;
  }
}

/** Typed client of the gateway's public HTTP interface. */
export class HarborClient {
  private readonly fetch: FetchLike;
  private readonly retry: RetryOptions;

  constructor(private readonly options: ClientOptions) {
    this.fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
    this.retry = { retryable: isTransient, ...(options.retry ?? DEFAULT_RETRY) };
  }

  /** Asks the pricing engine what a parcel would cost. Creates nothing. */
  @traced("quotes")
  async createQuote(draft: ParcelDraft): Promise<Quote> {
    return this.request<Quote>("POST", "/v1/quotes", draft);
  }

  /** Buys the parcel of a quote; the ledger records the charge. */
  @traced("parcels")
  async createParcel(quoteId: string): Promise<Parcel> {
    return this.request<Parcel>("POST", "/v1/parcels", { quoteId });
  }

  @traced("parcels")
  async cancelParcel(id: string): Promise<void> {
    await this.request<unknown>("DELETE", `/v1/parcels/${encodeURIComponent(id)}`);
  }

  /** Fetches one parcel by id, or several at once in the order asked for. */
  getParcels(id: string): Promise<Parcel>;
  getParcels(ids: readonly string[]): Promise<Parcel[]>;
  async getParcels(ids: string | readonly string[]): Promise<Parcel | Parcel[]> {
    const one = (id: string) =>
      this.request<Parcel>("GET", `/v1/parcels/${encodeURIComponent(id)}`);
    return typeof ids === "string" ? one(ids) : Promise.all(ids.map(one));
  }

  /** Walks all parcels of the account, fetching a page at a time. */
  async *listParcels(pageSize = 50): AsyncGenerator<Parcel, void, undefined> {
    let cursor: string | undefined;
    do {
      const query = new URLSearchParams({ limit: String(pageSize) });
      if (cursor !== undefined) {
        query.set("cursor", cursor);
      }
      const page = await this.request<Page<Parcel>>("GET", `/v1/parcels?${query.toString()}`);
      yield* page.items;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }

  async trackingEvents(parcelId: string): Promise<readonly TrackingEvent[]> {
    const path = `/v1/parcels/${encodeURIComponent(parcelId)}/events`;
    const page = await this.request<Page<TrackingEvent>>("GET", path);
    return page.items;
  }

  /** Sends one request, retrying transient failures. Every other method ends up here. */
  private request<T>(method: Method, path: string, body?: unknown): Promise<T> {
    // One key for all tries, so that a repeated POST is not executed twice.
    const idempotencyKey = `${method}-${Date.now()}-${Math.random().toString(36).slice(2)}`;

    const attemptOnce = async (attempt: number): Promise<T> => {
      const response = await this.fetch(this.options.baseUrl + path, {
        method,
        headers: this.headers(idempotencyKey, attempt),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!response.ok) {
        throw new ApiError(response.status, path, await response.text());
      }
      return (response.status === 204 ? undefined : await response.json()) as T;
    };

    return withRetry(attemptOnce, this.retry);
  }

  private headers(idempotencyKey: string, attempt: number): Record<string, string> {
    const token = this.options.token();
    return {
      "content-type": "application/json",
      "idempotency-key": idempotencyKey,
      "x-harbor-attempt": String(attempt),
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    };
  }
}

/** Network failures surface as `TypeError` from fetch; those are retried as well. */
function isTransient(error: unknown): boolean {
  return error instanceof ApiError ? error.transient : error instanceof TypeError;
}
