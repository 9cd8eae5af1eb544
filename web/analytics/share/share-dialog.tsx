/** Dialog of the public link of a site, which it makes and revokes, and of the weekly mail. */
import { CopyButton } from '../../shared/components/copy-button.js';
import { Dialog } from '../../shared/components/dialog.js';
import { api } from '../api.js';
import type { Site } from '../contract.js';
import { closeDialog, sites } from '../state/selection.js';
import { shareTexts, texts } from '../texts.js';
import { Action } from './action.js';
import { WeeklyMail } from './weekly-mail.js';

export function ShareDialog({ site }: { site: Site }) {
  return (
    <Dialog title={shareTexts.title} onClose={closeDialog} closeLabel={texts.close}>
      <PublicLink site={site} />
      <WeeklyMail site={site} />
    </Dialog>
  );
}

function PublicLink({ site: { id, shareUrl } }: { site: Site }) {
  async function toggle() {
    const { site } = await (shareUrl === null ? api.share(id) : api.unshare(id));
    sites.value = sites.value?.map((each) => (each.id === id ? site : each));
  }
  return (
    <Action
      title={shareTexts.link}
      hint={shareUrl === null ? shareTexts.linkHint : shareTexts.revokeHint}
      label={shareUrl === null ? shareTexts.makeLink : shareTexts.revokeLink}
      isDanger={shareUrl !== null}
      run={toggle}
    >
      {shareUrl !== null && (
        <div class="snippet">
          <code>{shareUrl}</code>
          <CopyButton text={shareUrl} />
        </div>
      )}
    </Action>
  );
}
