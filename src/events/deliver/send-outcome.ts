/** The outcome of one attempt. Texts are redacted. `status`: the HTTP status; null if there was none. */
export type SendOutcome =
  | { readonly kind: 'delivered'; readonly status: number | null; readonly answer: string | null }
  | {
      /** `gone`: the receiver is permanently gone (Standard Webhooks). */
      readonly kind: 'gone' | 'failed';
      readonly status: number | null;
      readonly error: string;
      readonly answer: string | null;
      /** The wait that the receiver requests, in milliseconds; null if it requests none. */
      readonly retryAfterMs: number | null;
    };
