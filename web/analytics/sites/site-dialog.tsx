/** Dialog to create or change a site. What was typed stays when the dialog is closed otherwise than by its buttons. */
import { Trash2 } from 'lucide-preact';
import { useRef } from 'preact/hooks';
import { Button } from '../../shared/components/button.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Checkbox, Form, TextAreaField, TextField } from '../../shared/components/form.js';
import { api, type SiteInput } from '../api.js';
import type { Site } from '../contract.js';
import { showSaved } from '../state/dashboard.js';
import { closeDialog, openDialog } from '../state/selection.js';
import { siteTexts, texts } from '../texts.js';

/** Typed values by field, of each site by id; `''` is a new one. */
const drafts = new Map<string, { readonly [field: string]: string }>();

const lines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

function inputFrom(values: FormData, isNew: boolean): SiteInput {
  const text = (name: string) => String(values.get(name) ?? '');
  const ingestToken = values.has('noToken') ? '' : text('token') || undefined;
  const id = text('id').trim();
  return {
    name: text('name').trim(),
    domains: text('domains'),
    allowedEventProperties: lines(text('properties')),
    goals: lines(text('goals')),
    ...(isNew && id && { id }),
    ...(ingestToken !== undefined && { ingestToken }),
  };
}

/** `site`: the changed one; undefined for a new one. */
export function SiteDialog({ site }: { site: Site | undefined }) {
  const draftId = site?.id ?? '';
  const draft = useRef(drafts.get(draftId) ?? {}).current;
  const form = useRef<HTMLDivElement>(null);

  function keepDraft() {
    const element = form.current?.querySelector('form');
    if (!element) return;
    // Tokens are not kept.
    const entries = [...new FormData(element)].filter(([name]) => !/token/i.test(name));
    drafts.set(draftId, Object.fromEntries(entries.map(([name, value]) => [name, String(value)])));
  }

  function discard() {
    drafts.delete(draftId);
    closeDialog();
  }

  async function save(values: FormData) {
    const input = inputFrom(values, !site);
    const saved = site ? await api.changeSite(site.id, input) : await api.createSite(input);
    discard();
    await showSaved(saved.site);
  }

  return (
    <Dialog title={site ? siteTexts.change : siteTexts.create} onClose={closeDialog} closeLabel={texts.close}>
      <div ref={form} id="site-form" onInput={keepDraft}>
        <Form
          submitLabel={site ? siteTexts.save : siteTexts.createNow}
          cancelLabel={texts.cancel}
          onSubmit={save}
          onCancel={discard}
        >
          <TextField
            label={siteTexts.name}
            name="name"
            maxLength={120}
            required
            autocomplete="off"
            defaultValue={draft.name ?? site?.name ?? ''}
          />
          {!site && <IdField typed={draft.id ?? ''} />}
          <TextAreaField
            label={siteTexts.domains}
            name="domains"
            rows={3}
            placeholder="example.com"
            autocapitalize="none"
            spellcheck={false}
            defaultValue={draft.domains ?? site?.domains.join('\n') ?? ''}
          />
          <TextAreaField
            label={siteTexts.properties}
            name="properties"
            rows={2}
            placeholder="plan"
            autocapitalize="none"
            spellcheck={false}
            defaultValue={draft.properties ?? site?.allowedEventProperties.join('\n') ?? ''}
          />
          <TextAreaField
            label={siteTexts.goals}
            hint={siteTexts.goalsHint}
            name="goals"
            rows={2}
            placeholder="Sign up"
            spellcheck={false}
            defaultValue={draft.goals ?? site?.goals.join('\n') ?? ''}
          />
          <TokenFields hasToken={site?.hasIngestToken === true} />
        </Form>
      </div>
      {site && (
        <p class="remove-site">
          <Button
            variant="danger"
            small
            icon={Trash2}
            onClick={() => {
              openDialog.value = 'remove';
            }}
          >
            {siteTexts.remove}
          </Button>
        </p>
      )}
    </Dialog>
  );
}

const IdField = ({ typed }: { typed: string }) => (
  <TextField
    label={siteTexts.id}
    name="id"
    maxLength={80}
    pattern="[A-Za-z0-9_ \-]+"
    title={siteTexts.idRule}
    placeholder={siteTexts.idPlaceholder}
    autocomplete="off"
    autocapitalize="none"
    spellcheck={false}
    defaultValue={typed}
  />
);

const TokenFields = ({ hasToken }: { hasToken: boolean }) => (
  <details>
    <summary>{siteTexts.tokenSection}</summary>
    <div class="form">
      <TextField
        label={hasToken ? siteTexts.newToken : siteTexts.token}
        hint={siteTexts.tokenHint}
        name="token"
        type="password"
        maxLength={200}
        autocomplete="new-password"
        placeholder={hasToken ? siteTexts.tokenUnchanged : siteTexts.tokenNone}
      />
      {hasToken && <Checkbox label={siteTexts.removeToken} name="noToken" />}
    </div>
  </details>
);
