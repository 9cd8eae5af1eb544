/** The page of a signed-in user: the report of a site, or all sites at a glance. */
import { ChartNoAxesColumn, Plus } from 'lucide-preact';
import { useEffect } from 'preact/hooks';
import { Button } from '../shared/components/button.js';
import { Empty, Failed, Loading } from '../shared/components/states.js';
import { Bar } from './bar.js';
import type { User } from './contract.js';
import { Overview } from './overview/overview.js';
import { ReportView } from './report/report-view.js';
import { ShareDialog } from './share/share-dialog.js';
import { PrivacyDialog } from './sites/privacy-dialog.js';
import { RemoveDialog } from './sites/remove-dialog.js';
import { SiteDialog } from './sites/site-dialog.js';
import { listSites, listTrouble, startDashboard } from './state/dashboard.js';
import { note, openDialog, privacy, site, sites } from './state/selection.js';
import { siteTexts, texts } from './texts.js';

export function Dashboard({ user }: { user: User }) {
  useEffect(startDashboard, []);
  return (
    <div id="dashboard">
      <Bar user={user} />
      {note.value && <Note text={note.value} />}
      <View />
      <OpenDialog />
    </div>
  );
}

function View() {
  const all = sites.value;
  if (!all)
    return (
      <main>
        {listTrouble.value ? (
          <Failed error={listTrouble.value} retry={() => void listSites()} retryLabel={texts.tryAgain} />
        ) : (
          <Loading label={texts.loading} />
        )}
      </main>
    );
  if (site.value) return <ReportView site={site.value} />;
  return all.length === 0 ? <NoSite /> : <Overview sites={all} />;
}

function NoSite() {
  function create() {
    openDialog.value = 'create';
  }
  return (
    <main>
      <Empty icon={ChartNoAxesColumn} title={siteTexts.noSite}>
        <p>{siteTexts.noSiteHint}</p>
        <Button variant="main" icon={Plus} onClick={create}>
          {siteTexts.createFirst}
        </Button>
      </Empty>
    </main>
  );
}

function Note({ text }: { text: string }) {
  function close() {
    note.value = '';
  }
  return (
    <p id="note" class="card" role="status">
      <span>{text}</span>
      <Button id="close-note" small onClick={close}>
        {texts.close}
      </Button>
    </p>
  );
}

function OpenDialog() {
  const shown = site.value;
  switch (openDialog.value) {
    case 'create':
      return <SiteDialog key="create" site={undefined} />;
    case 'change':
      return shown ? <SiteDialog key={shown.id} site={shown} /> : null;
    case 'share':
      return shown ? <ShareDialog key={shown.id} site={shown} /> : null;
    case 'remove':
      return shown ? <RemoveDialog key={shown.id} site={shown} /> : null;
    case 'privacy':
      return privacy.value ? <PrivacyDialog privacy={privacy.value} /> : null;
    default:
      return null;
  }
}
