/** Dialogs to create, edit and delete sites. */
import { byId } from '../shared/dom.js';
import type { Api, SiteInput } from './api.js';
import type { Site } from './contract.js';
import { formDialog } from './dialogs.js';

export interface SitesOptions {
  readonly api: Api;
  /** Runs after a site was created or changed. */
  readonly onSaved: (site: Site) => Promise<void>;
  readonly onDeleted: (site: Site, days: number) => Promise<void>;
}

const lines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

export function createSiteDialogs({ api, onSaved, onDeleted }: SitesOptions) {
  /** The edited site; undefined while a new one is created. */
  let site: Site | undefined;

  const dialog = formDialog('site', async () => {
    const result = site ? await api.changeSite(site.id, inputFromForm()) : await api.createSite(inputFromForm());
    dialog.close();
    await onSaved(result.site);
  });
  const [name, id] = [dialog.field('name'), dialog.field('id')];
  const domains = dialog.field<HTMLTextAreaElement>('domains');
  const properties = dialog.field<HTMLTextAreaElement>('properties');
  const [token, noToken] = [dialog.field('token'), dialog.field('noToken')];

  function inputFromForm(): SiteInput {
    const ingestToken = noToken.checked ? '' : token.value || undefined;
    return {
      name: name.value.trim(),
      domains: domains.value,
      allowedEventProperties: lines(properties.value),
      ...(!site && id.value.trim() && { id: id.value.trim() }),
      ...(ingestToken !== undefined && { ingestToken }),
    };
  }

  function open(editedSite: Site | undefined) {
    site = editedSite;
    dialog.form.reset();
    byId('site-title').textContent = site ? 'Settings' : 'New site';
    byId('id-field').hidden = site !== undefined;
    byId('open-delete').hidden = site === undefined;
    byId('no-token').hidden = !site?.hasIngestToken;
    byId('token-label').textContent = site?.hasIngestToken ? 'New ingest token' : 'Ingest token';
    token.placeholder = site?.hasIngestToken ? 'unchanged' : 'none';
    name.value = site?.name ?? '';
    domains.value = site?.domains.join('\n') ?? '';
    properties.value = site?.allowedEventProperties.join('\n') ?? '';
    dialog.open();
  }

  const deleteDialog = formDialog('delete', async () => {
    if (!site || confirmation.value !== site.id) return;
    const { rowsDeleted } = await api.deleteSite(site.id);
    deleteDialog.close();
    await onDeleted(site, rowsDeleted);
  });
  const confirmation = deleteDialog.field('typed');
  const deleteButton = deleteDialog.form.querySelector<HTMLButtonElement>('button[type=submit]')!;
  confirmation.oninput = () => {
    deleteButton.disabled = confirmation.value !== site?.id;
  };
  byId('open-delete').onclick = () => {
    dialog.close();
    deleteDialog.form.reset();
    deleteButton.disabled = true;
    byId('delete-name').textContent = site?.name ?? '';
    byId('delete-id').textContent = site?.id ?? '';
    deleteDialog.open();
  };

  return { create: () => open(undefined), change: open };
}
