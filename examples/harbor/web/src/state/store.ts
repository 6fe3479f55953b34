import { isFinal, type Parcel, type TrackingEvent } from "../types";
import { ParcelStatus } from "../types";

export type Listener = () => void;
export type Reducer<S, A> = (state: S, action: A) => S;

/** A minimal observable store, shaped to fit React's `useSyncExternalStore`. */
export interface Store<S, A> {
  getState(): S;
  dispatch(action: A): void;
  /** Returns a function that ends the subscription. */
  subscribe(listener: Listener): () => void;
}

/** Creates a store. Listeners run only when the reducer returned a new state. */
export function createStore<S, A>(reducer: Reducer<S, A>, initial: S): Store<S, A> {
  let state = initial;
  const listeners = new Set<Listener>();

  function notify(): void {
    for (const listener of [...listeners]) {
      listener();
    }
  }

  return {
    getState: () => state,
    dispatch(action) {
      const next = reducer(state, action);
      if (!Object.is(next, state)) {
        state = next;
        notify();
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

export interface ParcelState {
  readonly byId: Readonly<Record<string, Parcel>>;
  readonly order: readonly string[];
  readonly loading: boolean;
  readonly error?: string;
}

export type ParcelAction =
  | { readonly type: "loading" }
  | { readonly type: "loaded"; readonly parcels: readonly Parcel[] }
  | { readonly type: "failed"; readonly message: string }
  | { readonly type: "tracked"; readonly event: TrackingEvent };

export const emptyParcels: ParcelState = { byId: {}, order: [], loading: false };

/** Pure state transitions of the parcel list. */
export const parcelReducer: Reducer<ParcelState, ParcelAction> = (state, action) => {
  switch (action.type) {
    case "loading":
      return { byId: state.byId, order: state.order, loading: true };
    case "loaded":
      return {
        byId: Object.fromEntries(action.parcels.map((parcel) => [parcel.id, parcel])),
        order: action.parcels.map((parcel) => parcel.id),
        loading: false,
      };
    case "failed":
      return { ...state, loading: false, error: action.message };
    case "tracked":
      return applyTracking(state, action.event);
  }
};

/** Moves one parcel to the status an event implies; final parcels never move again. */
function applyTracking(state: ParcelState, event: TrackingEvent): ParcelState {
  const parcel = state.byId[event.parcelId];
  if (!parcel || isFinal(parcel.status)) {
    return state;
  }
  const moved: Parcel = { ...parcel, status: statusAfter(event) };
  return { ...state, byId: { ...state.byId, [parcel.id]: moved } };
}

function statusAfter(event: TrackingEvent): ParcelStatus {
  switch (event.kind) {
    case "delivered":
      return ParcelStatus.Delivered;
    case "returned":
      return ParcelStatus.Returned;
    default:
      return ParcelStatus.InTransit;
  }
}

/** The one store of the portal. */
export const parcelStore = createStore(parcelReducer, emptyParcels);

/** Parcels in display order. */
export function selectParcels(state: ParcelState): Parcel[] {
  return state.order.flatMap((id) => state.byId[id] ?? []);
}
