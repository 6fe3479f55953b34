"use strict";

/**
 * Build and runtime configuration for the portal.
 *
 * The extension pins CommonJS on purpose: the deploy script (`scripts/deploy.sh`)
 * reads it with a bare `node -p`, before anything has been built.
 */

const DEFAULT_PORT = 4310;

/** Reads an integer from the environment, falling back when unset or malformed. */
function intFromEnv(name, fallback) {
  const parsed = Number.parseInt(process.env[name] ?? "", 10);
  return Number.isNaN(parsed) ? fallback : parsed;
}

/** Upstream addresses by environment name. */
const gateways = {
  development: "http://localhost:8080",
  staging: "https://gateway.staging.harbor.example",
  production: "https://gateway.harbor.example",
};

function resolveGateway(environment) {
  const url = gateways[environment];
  if (!url) {
    throw new Error(`no gateway is known for environment "${environment}"`);
  }
  return url;
}

const environment = process.env.HARBOR_ENV || "development";

module.exports = {
  environment,
  port: intFromEnv("HARBOR_WEB_PORT", DEFAULT_PORT),
  gatewayUrl: resolveGateway(environment),
  tokenTtlSeconds: intFromEnv("HARBOR_TOKEN_TTL", 15 * 60),
  retry: {
    attempts: intFromEnv("HARBOR_RETRY_ATTEMPTS", 4),
    baseDelayMs: 150,
  },
  resolveGateway,
};
