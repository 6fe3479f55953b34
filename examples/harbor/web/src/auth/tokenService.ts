import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";

import { isScope, type Scope } from "../types";
import { BaseValidator, ValidationError, type Clock } from "./baseValidator";

/** Prefix of every access token; the digit is the format version. */
const TOKEN_PREFIX = "hbr1";

/** Tokens issued this far in the future are accepted, to allow for clock drift. */
const CLOCK_SKEW_MS = 30_000;

/** What a valid access token says about its bearer. */
export interface AccessToken {
  readonly id: string;
  readonly subject: string;
  readonly scopes: readonly Scope[];
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export interface TokenServiceOptions {
  /** Shared with the gateway, which checks the same signature at the edge. */
  readonly secret: string;
  readonly ttlSeconds?: number;
  readonly clock?: Clock;
}

/** Remembers tokens that were withdrawn before they expired. */
export interface RevocationList {
  has(tokenId: string): boolean;
  add(tokenId: string, expiresAt: number): void;
}

/** In-memory revocation list which forgets tokens once they have expired anyway. */
export class MemoryRevocationList implements RevocationList {
  readonly #entries = new Map<string, number>();

  constructor(private readonly clock: Clock = Date.now) {}

  has(tokenId: string): boolean {
    return this.#entries.has(tokenId);
  }

  add(tokenId: string, expiresAt: number): void {
    this.#entries.set(tokenId, expiresAt);
    this.#sweep();
  }

  get size(): number {
    return this.#entries.size;
  }

  #sweep(): void {
    const now = this.clock();
    for (const [id, expiresAt] of this.#entries) {
      if (expiresAt < now) {
        this.#entries.delete(id);
      }
    }
  }
}

/**
 * Issues and validates the access tokens of the portal.
 *
 * A token is `hbr1.<payload>.<signature>`: base64url JSON and the HMAC-SHA256
 * of the payload. The gateway's `HMACVerifier` (gateway/middleware/auth.go)
 * reads the same format, but knows nothing about revocation.
 */
export class TokenService extends BaseValidator<string, AccessToken> {
  readonly #secret: string;
  #ttlMs: number;

  constructor(
    options: TokenServiceOptions,
    private readonly revoked: RevocationList = new MemoryRevocationList(options.clock),
  ) {
    super(options.clock);
    if (options.secret.length < 16) {
      throw new RangeError("the token secret needs at least 16 characters");
    }
    this.#secret = options.secret;
    this.#ttlMs = (options.ttlSeconds ?? 900) * 1000;
  }

  /** Life-time of newly issued tokens, in seconds. */
  get ttlSeconds(): number {
    return this.#ttlMs / 1000;
  }

  set ttlSeconds(seconds: number) {
    if (!Number.isFinite(seconds) || seconds <= 0) {
      throw new RangeError("a token has to live for a positive time");
    }
    this.#ttlMs = seconds * 1000;
  }

  /** Signs a new token for a subject. */
  issue(subject: string, scopes: readonly Scope[]): string {
    const issuedAt = this.clock();
    const token: AccessToken = {
      id: randomUUID(),
      subject,
      scopes,
      issuedAt,
      expiresAt: issuedAt + this.#ttlMs,
    };
    const payload = Buffer.from(JSON.stringify(token), "utf8").toString("base64url");
    return [TOKEN_PREFIX, payload, this.sign(payload)].join(".");
  }

  /**
   * Validates an access token and, on top, that it grants every given scope.
   * The `admin` scope implies all others.
   */
  validateAccessToken(raw: string, ...required: Scope[]): AccessToken {
    const token = this.validate(raw);
    const grants = (scope: Scope) => token.scopes.includes("admin") || token.scopes.includes(scope);
    const missing = required.filter((scope) => !grants(scope));
    if (missing.length > 0) {
      throw new ValidationError("missing_scope", `token lacks ${missing.join(", ")}`);
    }
    return token;
  }

  /** Swaps a valid token for a fresh one and revokes the old one. */
  refresh(raw: string): string {
    const old = this.validate(raw);
    this.revoke(old);
    return this.issue(old.subject, old.scopes);
  }

  revoke(token: AccessToken): void {
    this.revoked.add(token.id, token.expiresAt);
  }

  protected override parse(raw: string): AccessToken {
    const [prefix, payload, signature, ...rest] = raw.split(".");
    if (prefix !== TOKEN_PREFIX || !payload || !signature || rest.length > 0) {
      throw new ValidationError("malformed", "not a Harbor access token");
    }
    if (!constantTimeEqual(signature, this.sign(payload))) {
      throw new ValidationError("bad_signature", "the signature does not match");
    }
    return decodePayload(payload);
  }

  protected override *checks() {
    yield this.checkLifetime;
    yield this.checkNotRevoked;
  }

  private readonly checkLifetime = (token: AccessToken): void => {
    const now = this.clock();
    if (token.expiresAt <= now) {
      throw new ValidationError("expired", "the token has expired");
    }
    if (token.issuedAt > now + CLOCK_SKEW_MS) {
      throw new ValidationError("malformed", "the token was issued in the future");
    }
  };

  private readonly checkNotRevoked = (token: AccessToken): void => {
    if (this.revoked.has(token.id)) {
      throw new ValidationError("revoked", "the token was withdrawn");
    }
  };

  private sign(payload: string): string {
    return createHmac("sha256", this.#secret).update(payload).digest("base64url");
  }
}

/** Extracts the token from an `Authorization: Bearer …` header. */
export function bearerToken(header: string | undefined): string | undefined {
  const match = /^Bearer\s+(\S+)$/i.exec(header ?? "");
  return match?.[1];
}

function constantTimeEqual(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

function decodePayload(payload: string): AccessToken {
  let decoded: unknown;
  try {
    decoded = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
  } catch {
    throw new ValidationError("malformed", "the payload is not JSON");
  }
  if (!isAccessToken(decoded)) {
    throw new ValidationError("malformed", "the payload is not an access token");
  }
  return decoded;
}

function isAccessToken(value: unknown): value is AccessToken {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  const token = value as Partial<AccessToken>;
  return (
    typeof token.id === "string" &&
    typeof token.subject === "string" &&
    Array.isArray(token.scopes) &&
    token.scopes.every(isScope) &&
    typeof token.issuedAt === "number" &&
    typeof token.expiresAt === "number"
  );
}
