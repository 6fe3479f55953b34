import type { Result } from "../types";

/** Why a credential was turned down. The value is safe to show to a client. */
export type RejectionCode = "malformed" | "bad_signature" | "expired" | "revoked" | "missing_scope";

/** Thrown by validators; carries a machine-readable code. */
export class ValidationError extends Error {
  constructor(
    readonly code: RejectionCode,
    message: string,
  ) {
    super(message);
    this.name = "ValidationError";
  }
}

/** A source of the current time in milliseconds, replaceable in tests. */
export type Clock = () => number;

/**
 * Template for validators: parse first, then run every check in order.
 *
 * Subclasses provide `parse` and `checks`; callers use `validate`, which
 * throws, or `tryValidate`, which does not.
 */
export abstract class BaseValidator<TInput, TOutput> {
  private accepted = 0;
  private rejected = 0;

  protected constructor(protected readonly clock: Clock = Date.now) {}

  /** Turns the raw input into a structured value, or throws `ValidationError`. */
  protected abstract parse(input: TInput): TOutput;

  /** The checks a parsed value has to pass, cheapest first. */
  protected abstract checks(): Iterable<(value: TOutput) => void>;

  /** Parses and checks the input. Throws `ValidationError` on the first failure. */
  validate(input: TInput): TOutput {
    try {
      const value = this.parse(input);
      for (const check of this.checks()) {
        check(value);
      }
      this.accepted += 1;
      return value;
    } catch (error) {
      this.rejected += 1;
      throw error;
    }
  }

  /** Like `validate`, but returns the failure. Unexpected errors still propagate. */
  tryValidate(input: TInput): Result<TOutput, ValidationError> {
    try {
      return { ok: true, value: this.validate(input) };
    } catch (error) {
      if (error instanceof ValidationError) {
        return { ok: false, error };
      }
      throw error;
    }
  }

  /** Share of inputs rejected since the start, between 0 and 1. */
  get rejectionRate(): number {
    const total = this.accepted + this.rejected;
    return total === 0 ? 0 : this.rejected / total;
  }
}
