/** The tag of a site, and whether hits arrive. */
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Button } from '../../shared/components/button.js';
import { CopyButton } from '../../shared/components/copy-button.js';
import { clockTimeWithSeconds } from '../../shared/components/time.js';
import { api } from '../api.js';
import type { Attempt, Site } from '../contract.js';
import { hitsSeen } from '../state/dashboard.js';
import { isInstallOpen } from '../state/selection.js';
import { installTexts, reasonText, texts } from '../texts.js';

const POLL_MS = 3000;
const MAX_ATTEMPTS = 20;

interface Check {
  readonly state: 'waiting' | 'works' | 'ignored';
  readonly text: string;
}

function howTo({ domains, hasIngestToken }: Site): string {
  if (hasIngestToken) return installTexts.tokenSite;
  return domains.length === 0 ? installTexts.noDomains : installTexts.putTag(domains);
}

function describe({ kind, eventName, host, path }: Attempt): string {
  const page = `${host ?? ''}${path ?? ''}`;
  return kind === 'event' ? installTexts.eventOn(eventName ?? '', page) : installTexts.viewOf(page);
}

/** `attempts`: newest first. */
function checkOf(attempts: readonly Attempt[]): Check {
  const accepted = attempts.find((each) => each.accepted);
  if (accepted)
    return {
      state: 'works',
      text: installTexts.works(describe(accepted), clockTimeWithSeconds(Date.parse(accepted.timestamp))),
    };
  const [newest] = attempts;
  if (newest) return { state: 'ignored', text: installTexts.ignored(reasonText(newest.reason, newest.host)) };
  return { state: 'waiting', text: installTexts.waiting };
}

export function Install({ site }: { site: Site }) {
  const [attempts, setAttempts] = useState<readonly Attempt[]>([]);
  const [check, setCheck] = useState<Check>({ state: 'waiting', text: '' });

  useEffect(() => {
    let isCurrent = true;
    async function look() {
      if (document.hidden) return;
      try {
        const answer = await api.attempts(site.id);
        if (!isCurrent) return;
        setAttempts(answer.attempts);
        setCheck(checkOf(answer.attempts));
      } catch (error) {
        if (isCurrent) setCheck({ state: 'ignored', text: messageOf(error) });
      }
    }
    void look();
    const timer = setInterval(look, POLL_MS);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [site, hitsSeen.value]);

  function close() {
    isInstallOpen.value = false;
    document.getElementById('open-install')?.focus();
  }

  return (
    <section id="install" class="card" aria-labelledby="install-title">
      <header>
        <h2 id="install-title">{installTexts.title}</h2>
        <Button small onClick={close}>
          {texts.close}
        </Button>
      </header>
      <p>{howTo(site)}</p>
      <div class="snippet">
        <code>{site.snippet}</code>
        <CopyButton text={site.snippet} label={installTexts.copy} copiedLabel={installTexts.copied} />
      </div>
      <p id="check" role="status" data-state={check.state}>
        {check.text}
      </p>
      {attempts.length > 0 && (
        <details>
          <summary>{installTexts.attempts}</summary>
          <p class="quiet">{installTexts.attemptsHint}</p>
          <ol class="attempts">
            {attempts.slice(0, MAX_ATTEMPTS).map((attempt, index) => (
              <AttemptRow key={index} attempt={attempt} />
            ))}
          </ol>
        </details>
      )}
    </section>
  );
}

const AttemptRow = ({ attempt }: { attempt: Attempt }) => (
  <li>
    <time class="quiet" dateTime={attempt.timestamp}>
      {clockTimeWithSeconds(Date.parse(attempt.timestamp))}
    </time>
    <bdi class="what">{describe(attempt)}</bdi>
    <span class="quiet">
      {attempt.accepted ? installTexts.counted : installTexts.ignoredFor(reasonText(attempt.reason, attempt.host))}
    </span>
  </li>
);
