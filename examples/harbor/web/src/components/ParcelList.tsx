import type { HarborClient } from "../api/client";
import { useParcels } from "../hooks/useParcels";
import { isFinal, MoneyFormat, ParcelStatus, type Parcel } from "../types";

const STATUS_LABELS: Record<ParcelStatus, string> = {
  [ParcelStatus.Draft]: "Not paid yet",
  [ParcelStatus.Paid]: "Waiting for pick-up",
  [ParcelStatus.InTransit]: "On its way",
  [ParcelStatus.Delivered]: "Delivered",
  [ParcelStatus.Returned]: "Returned to you",
};

export interface ParcelListProps {
  readonly client: HarborClient;
  readonly onSelect: (parcel: Parcel) => void;
}

/** The landing page of the portal: every parcel, those still moving first. */
export function ParcelList({ client, onSelect }: ParcelListProps) {
  const { parcels, loading, error, reload } = useParcels(client);

  if (error !== undefined) {
    return (
      <section role="alert">
        <p>Your parcels could not be loaded: {error}</p>
        <button onClick={reload}>Try again</button>
      </section>
    );
  }

  const sorted = [...parcels].sort(byProgress);
  return (
    <section className="parcel-list" aria-busy={loading}>
      <header>
        <h2>Parcels ({sorted.length})</h2>
        <button onClick={reload} disabled={loading}>
          Reload
        </button>
      </header>
      <table>
        <tbody>
          {sorted.map((parcel) => (
            <ParcelRow key={parcel.id} parcel={parcel} onSelect={() => onSelect(parcel)} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface ParcelRowProps {
  readonly parcel: Parcel;
  readonly onSelect: () => void;
}

const ParcelRow = ({ parcel, onSelect }: ParcelRowProps) => (
  <tr className={isFinal(parcel.status) ? "final" : "active"}>
    <td>
      <button onClick={onSelect}>{parcel.id}</button>
    </td>
    <td>{parcel.destination.city ?? parcel.destination.postcode}</td>
    <td>{STATUS_LABELS[parcel.status]}</td>
    <td>{MoneyFormat.format(parcel.price)}</td>
  </tr>
);

/** Active parcels before final ones, newest first within each group. */
function byProgress(a: Parcel, b: Parcel): number {
  const finality = Number(isFinal(a.status)) - Number(isFinal(b.status));
  return finality !== 0 ? finality : b.createdAt.localeCompare(a.createdAt);
}
