/** Making, changing and deleting sites. */
import { byId } from '../shared/dom.js';
import type { Api, SiteInput } from './api.js';
import type { Site } from './contract.js';
import { formDialog } from './dialogs.js';

export interface SitesOptions {
  readonly api: Api;
  /** A site was made or changed: it is shown. */
  readonly written: (site: Site) => Promise<void>;
  readonly deleted: (site: Site, days: number) => Promise<void>;
}

const lines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

export function createSiteDialogs({ api, written, deleted }: SitesOptions) {
  /** The one that is changed; undefined while one is made. */
  let site: Site | undefined;

  const dialog = formDialog('site', async () => {
    const done = site ? await api.changeSite(site.id, wish()) : await api.createSite(wish());
    dialog.close();
    await written(done.site);
  });
  const [name, id] = [dialog.field('name'), dialog.field('id')];
  const domains = dialog.field<HTMLTextAreaElement>('domains');
  const properties = dialog.field<HTMLTextAreaElement>('properties');
  const [token, noToken] = [dialog.field('token'), dialog.field('noToken')];

  function wish(): SiteInput {
    const ingestToken = noToken.checked ? '' : token.value || undefined;
    return {
      name: name.value.trim(),
      domains: domains.value,
      allowedEventProperties: lines(properties.value),
      ...(!site && id.value.trim() && { id: id.value.trim() }),
      ...(ingestToken !== undefined && { ingestToken }),
    };
  }

  function open(given: Site | undefined) {
    site = given;
    dialog.form.reset();
    byId('site-title').textContent = site ? 'Settings' : 'New site';
    byId('id-field').hidden = site !== undefined;
    byId('open-delete').hidden = site === undefined;
    byId('no-token').hidden = !site?.hasIngestToken;
    byId('token-label').textContent = site?.hasIngestToken ? 'Another ingest token' : 'Ingest token';
    token.placeholder = site?.hasIngestToken ? 'stays as it is' : 'none';
    name.value = site?.name ?? '';
    domains.value = site?.domains.join('\n') ?? '';
    properties.value = site?.allowedEventProperties.join('\n') ?? '';
    dialog.open();
  }

  const deleting = formDialog('delete', async () => {
    if (!site || typed.value !== site.id) return;
    const { rowsDeleted } = await api.deleteSite(site.id);
    deleting.close();
    await deleted(site, rowsDeleted);
  });
  const typed = deleting.field('typed');
  const confirm = deleting.form.querySelector<HTMLButtonElement>('button[type=submit]')!;
  typed.oninput = () => {
    confirm.disabled = typed.value !== site?.id;
  };
  byId('open-delete').onclick = () => {
    dialog.close();
    deleting.form.reset();
    confirm.disabled = true;
    byId('delete-name').textContent = site?.name ?? '';
    byId('delete-id').textContent = site?.id ?? '';
    deleting.open();
  };

  return { create: () => open(undefined), change: open };
}
