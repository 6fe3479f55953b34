/** Public surface of the portal's library code. */

export * from "./types";
export * as retry from "./api/retry";
export { ApiError, HarborClient, type ClientOptions } from "./api/client";
export { BaseValidator, ValidationError, type RejectionCode } from "./auth/baseValidator";
export {
  bearerToken,
  MemoryRevocationList,
  TokenService,
  type AccessToken,
  type RevocationList,
} from "./auth/tokenService";
export { createStore, parcelReducer, parcelStore, type Store } from "./state/store";
export { setTraceSink as onTrace } from "./util/decorators";
