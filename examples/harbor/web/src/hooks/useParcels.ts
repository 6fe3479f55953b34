import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";

import type { HarborClient } from "../api/client";
import { parcelStore, selectParcels } from "../state/store";
import type { Parcel, ParcelDraft, Quote, TrackingEvent } from "../types";

export interface UseParcels {
  readonly parcels: readonly Parcel[];
  readonly loading: boolean;
  readonly error: string | undefined;
  readonly reload: () => void;
}

/** Loads all parcels into the store once, and again whenever `reload` is called. */
export function useParcels(client: HarborClient): UseParcels {
  const state = useSyncExternalStore(parcelStore.subscribe, parcelStore.getState);
  const [generation, setGeneration] = useState(0);

  useEffect(() => {
    let cancelled = false;

    async function load(): Promise<void> {
      parcelStore.dispatch({ type: "loading" });
      const parcels: Parcel[] = [];
      try {
        for await (const parcel of client.listParcels()) {
          parcels.push(parcel);
        }
        if (!cancelled) {
          parcelStore.dispatch({ type: "loaded", parcels });
        }
      } catch (error) {
        if (!cancelled) {
          parcelStore.dispatch({ type: "failed", message: describeError(error) });
        }
      }
    }

    void load();
    return () => {
      cancelled = true;
    };
  }, [client, generation]);

  const parcels = useMemo(() => selectParcels(state), [state]);
  const reload = useCallback(() => setGeneration((n) => n + 1), []);
  return { parcels, loading: state.loading, error: state.error, reload };
}

/** Polls the tracking events of one parcel and feeds them into the store. */
export function useTracking(
  client: HarborClient,
  parcelId: string,
  intervalMs = 15_000,
): readonly TrackingEvent[] {
  const [events, setEvents] = useState<readonly TrackingEvent[]>([]);
  const seen = useRef(0);

  useEffect(() => {
    seen.current = 0;
    const poll = async () => {
      const latest = await client.trackingEvents(parcelId);
      latest.slice(seen.current).forEach((event) => parcelStore.dispatch({ type: "tracked", event }));
      seen.current = latest.length;
      setEvents(latest);
    };
    const pollQuietly = () => void poll().catch(() => undefined);

    pollQuietly();
    const timer = setInterval(pollQuietly, intervalMs);
    return () => clearInterval(timer);
  }, [client, parcelId, intervalMs]);

  return events;
}

/** Requests quotes on demand; answers that arrive out of order are dropped. */
export function useQuote(client: HarborClient) {
  const [quote, setQuote] = useState<Quote | undefined>(undefined);
  const [error, setError] = useState<string | undefined>(undefined);
  const latest = useRef(0);

  const requestQuote = useCallback(
    async (draft: ParcelDraft): Promise<void> => {
      const ticket = ++latest.current;
      try {
        const fresh = await client.createQuote(draft);
        if (ticket === latest.current) {
          setQuote(fresh);
          setError(undefined);
        }
      } catch (failure) {
        if (ticket === latest.current) {
          setError(describeError(failure));
        }
      }
    },
    [client],
  );

  return { quote, error, requestQuote } as const;
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
