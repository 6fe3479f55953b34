import type { HarborClient } from "../api/client";
import { useTracking } from "../hooks/useParcels";
import { MoneyFormat, type TrackingEvent } from "../types";

export interface TrackingTimelineProps {
  readonly client: HarborClient;
  readonly parcelId: string;
}

/** Everything that happened to one parcel, latest event first. */
export function TrackingTimeline({ client, parcelId }: TrackingTimelineProps) {
  const events = useTracking(client, parcelId);

  if (events.length === 0) {
    return <p>No scans yet. The first one appears once a depot has the parcel.</p>;
  }
  return (
    <>
      <h2>Tracking of {parcelId}</h2>
      <ol className="timeline">
        {[...events].reverse().map((event) => (
          <li key={`${event.kind}-${event.at}`} className={event.kind}>
            <time dateTime={event.at}>{event.at.slice(0, 16).replace("T", " ")}</time>
            <span>{describeEvent(event)}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

/** One sentence for an event. The switch is exhaustive: a new kind fails to compile here. */
export function describeEvent(event: TrackingEvent): string {
  switch (event.kind) {
    case "scanned":
      return `Scanned at ${event.depot}`;
    case "delayed":
      return `Delayed by ${event.hours} h: ${event.reason}`;
    case "delivered":
      return `Delivered, signed by ${event.signedBy}`;
    case "returned":
      return `Returned, ${MoneyFormat.format(event.refund)} refunded`;
    default:
      return assertNever(event);
  }
}

function assertNever(value: never): never {
  throw new Error(`unhandled tracking event: ${JSON.stringify(value)}`);
}
