import { useState, type ChangeEvent, type FormEvent } from "react";

import type { HarborClient } from "../api/client";
import { useQuote } from "../hooks/useParcels";
import { MoneyFormat, ServiceLevel, type ParcelDraft, type Quote } from "../types";

export interface QuoteFormProps {
  readonly client: HarborClient;
  readonly initial: ParcelDraft;
  readonly onAccept: (quote: Quote) => void;
}

/** Collects weight and service level, and shows what the parcel would cost. */
export function QuoteForm({ client, initial, onAccept }: QuoteFormProps) {
  const [draft, setDraft] = useState<ParcelDraft>(initial);
  const { quote, error, requestQuote } = useQuote(client);

  const update = (change: Partial<ParcelDraft>) => setDraft((previous) => ({ ...previous, ...change }));

  function handleSubmit(event: FormEvent): void {
    event.preventDefault();
    void requestQuote(draft);
  }

  function handleWeight(event: ChangeEvent): void {
    const grams = Number.parseInt(event.target.value, 10);
    if (grams > 0) {
      update({ weightGrams: grams });
    }
  }

  return (
    <form className="quote-form" onSubmit={handleSubmit}>
      <label>
        Weight in grams
        <input type="number" min={1} value={draft.weightGrams} onChange={handleWeight} required />
      </label>
      <label>
        Service
        <select
          value={draft.service}
          onChange={(event) => update({ service: event.target.value as ServiceLevel })}
        >
          {Object.values(ServiceLevel).map((level) => (
            <option key={level} value={level}>
              {level}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Get a price</button>
      {error !== undefined && <p role="alert">{error}</p>}
      {quote !== undefined && <Breakdown quote={quote} onAccept={() => onAccept(quote)} />}
    </form>
  );
}

/** The lines of a quote, in the order in which pricing applied them. */
function Breakdown({ quote, onAccept }: { quote: Quote; onAccept: () => void }) {
  return (
    <section className="breakdown">
      <ul>
        {quote.lines.map((line) => (
          <li key={line.label}>
            {line.label}: {MoneyFormat.format(line.amount)}
          </li>
        ))}
      </ul>
      <strong>Total {MoneyFormat.format(quote.total)}</strong>
      <p>Charged for {(quote.billableGrams / 1000).toFixed(2)} kg</p>
      <button type="button" onClick={onAccept}>
        Ship it
      </button>
    </section>
  );
}
