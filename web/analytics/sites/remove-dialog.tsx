/** Dialog that deletes a site after its id was typed. */
import { useState } from 'preact/hooks';
import { Button } from '../../shared/components/button.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormError, TextField } from '../../shared/components/form.js';
import { api } from '../api.js';
import type { Site } from '../contract.js';
import { leaveSite } from '../state/dashboard.js';
import { closeDialog } from '../state/selection.js';
import { siteTexts, texts } from '../texts.js';

export function RemoveDialog({ site: { id, name } }: { site: Site }) {
  const [typed, setTyped] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();

  async function remove(event: SubmitEvent) {
    event.preventDefault();
    if (typed !== id || busy) return;
    setBusy(true);
    setError(undefined);
    try {
      const { rowsDeleted } = await api.deleteSite(id);
      await leaveSite(id, siteTexts.removed(id, rowsDeleted));
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  }

  return (
    <Dialog title={siteTexts.removeTitle(name)} onClose={closeDialog} closeLabel={texts.close}>
      <form class="form" onSubmit={remove}>
        <p>{siteTexts.removeHint}</p>
        <TextField
          label={siteTexts.typeToRemove(id)}
          name="typed"
          required
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <FormError error={error} />
        <div class="dialog-actions">
          <Button onClick={closeDialog}>{texts.cancel}</Button>
          <Button variant="danger" type="submit" busy={busy} disabled={typed !== id}>
            {siteTexts.removeNow}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
