/** A section with a button, which says why it failed. */
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { Button } from '../../shared/components/button.js';
import { FormError } from '../../shared/components/form.js';

interface ActionProps {
  readonly title: string;
  readonly hint: string;
  /** Of the button; there is none without it. */
  readonly label?: string;
  /** The action removes something. */
  readonly isDanger?: boolean;
  readonly run?: () => Promise<unknown>;
  readonly children?: ComponentChildren;
}

export function Action({ title, hint, label, isDanger, run, children }: ActionProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const titleId = useId();
  async function act() {
    setBusy(true);
    setError(undefined);
    await run?.().catch(setError);
    setBusy(false);
  }
  return (
    <section class="action" aria-labelledby={titleId}>
      <h3 id={titleId}>{title}</h3>
      <p class="quiet">{hint}</p>
      {children}
      <FormError error={error} />
      {label !== undefined && (
        <Button {...(isDanger && { variant: 'danger' as const })} busy={busy} onClick={act}>
          {label}
        </Button>
      )}
    </section>
  );
}
