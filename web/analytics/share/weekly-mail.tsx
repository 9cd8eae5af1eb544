/** The reader's subscription to the weekly mail about a site, in the share dialog. */
import { Loaded, useLoad } from '../../shared/use-load.js';
import { api } from '../api.js';
import type { Site, WeeklyMail as Subscription } from '../contract.js';
import { shareTexts, texts } from '../texts.js';
import { Action } from './action.js';

export function WeeklyMail({ site: { id } }: { site: Site }) {
  const subscription = useLoad(() => api.weeklyMail(id), [id]);
  async function toggle({ subscribed }: Subscription) {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    const changed = await (subscribed ? api.unsubscribe(id) : api.subscribe(id, timeZone));
    subscription.update(() => changed);
  }
  return (
    <Loaded of={subscription} loadingLabel={texts.loading} retryLabel={texts.tryAgain}>
      {(current) =>
        current.email === null ? (
          <Action title={shareTexts.mail} hint={shareTexts.noAddress} />
        ) : (
          <Action
            title={shareTexts.mail}
            hint={current.subscribed ? shareTexts.subscribed(current.email) : shareTexts.mailHint(current.email)}
            label={current.subscribed ? shareTexts.unsubscribe : shareTexts.subscribe}
            isDanger={current.subscribed}
            run={() => toggle(current)}
          />
        )
      }
    </Loaded>
  );
}
