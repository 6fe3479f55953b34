import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";

import { ApiError, HarborClient, retry, TokenService, ValidationError, type Scope } from "../src/index";

const SECRET = "s".repeat(32);

/** A clock that tests move by hand. */
class ManualClock {
  now = 1_700_000_000_000;
  readonly read = () => this.now;
  advance(seconds: number): void {
    this.now += seconds * 1000;
  }
}

function rejectsWith(code: string) {
  return (error: unknown) => error instanceof ValidationError && error.code === code;
}

describe("TokenService", () => {
  let clock: ManualClock;
  let service: TokenService;
  const scopes: Scope[] = ["parcels:read"];

  beforeEach(() => {
    clock = new ManualClock();
    service = new TokenService({ secret: SECRET, ttlSeconds: 60, clock: clock.read });
  });

  it("accepts a token it issued", () => {
    const token = service.validateAccessToken(service.issue("ada", scopes), "parcels:read");
    assert.equal(token.subject, "ada");
    assert.equal(service.rejectionRate, 0);
  });

  it("rejects an expired token", () => {
    const raw = service.issue("ada", scopes);
    clock.advance(61);
    assert.throws(() => service.validate(raw), rejectsWith("expired"));
    assert.equal(service.rejectionRate, 1);
  });

  it("rejects a token signed with another secret", () => {
    const other = new TokenService({ secret: SECRET.toUpperCase(), clock: clock.read });
    assert.throws(() => service.validate(other.issue("eve", ["admin"])), rejectsWith("bad_signature"));
  });

  it("revokes the old token on refresh", () => {
    const old = service.issue("ada", scopes);
    const fresh = service.refresh(old);
    assert.throws(() => service.validate(old), rejectsWith("revoked"));
    assert.ok(service.tryValidate(fresh).ok);
  });

  describe("scopes", () => {
    it("names what is missing", () => {
      const raw = service.issue("ada", scopes);
      assert.throws(() => service.validateAccessToken(raw, "quotes:create"), rejectsWith("missing_scope"));
    });

    it("lets admin do everything", () => {
      const raw = service.issue("root", ["admin"]);
      assert.ok(service.validateAccessToken(raw, "quotes:create", "parcels:write"));
    });
  });
});

describe("withRetry", () => {
  const sleep = async () => {};

  it("gives up after the configured attempts", async () => {
    let calls = 0;
    const failing = () => {
      calls += 1;
      return Promise.reject(new Error("down"));
    };
    await assert.rejects(
      () => retry.withRetry(failing, { attempts: 3, baseDelayMs: 1, sleep }),
      (error) => error instanceof retry.RetriesExhausted && error.attempts === 3,
    );
    assert.equal(calls, 3);
  });

  it("is used by the client for transient answers only", async () => {
    const statuses = [503, 429, 404];
    const client = new HarborClient({
      baseUrl: "http://gateway.invalid",
      token: () => undefined,
      fetch: async () => new Response("", { status: statuses.shift() ?? 200 }),
      retry: { attempts: 5, baseDelayMs: 1, sleep },
    });
    await assert.rejects(
      () => client.getParcels("pcl_1"),
      (error) => error instanceof ApiError && error.status === 404,
    );
    assert.deepEqual(statuses, []);
  });
});
