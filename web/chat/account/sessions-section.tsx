/** Where the user is signed in, and ending those sessions. */
import { useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Button } from '../../shared/components/button.js';
import { ConfirmDialog } from '../../shared/components/dialog.js';
import { relativeTime, Time } from '../../shared/components/time.js';
import { toast } from '../../shared/components/toasts.js';
import { Loaded, useLoad } from '../../shared/use-load.js';
import { http } from '../api.js';
import { signOut } from '../session.js';
import { settingsTexts } from '../texts/settings.js';
import { deviceOf } from './device.js';

const texts = settingsTexts.sessions;

interface SessionRecord {
  readonly id: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly expiresAt: number;
  readonly ip: string;
  readonly userAgent: string;
  readonly isCurrentSession: boolean;
}

const revoke = (body: { readonly sessionId?: string }) =>
  http.json<{ revoked: number }>('DELETE', 'auth/sessions', { body });

function deviceName(userAgent: string): string {
  const { browser, system } = deviceOf(userAgent);
  if (!browser) return system ?? (userAgent.slice(0, 60) || texts.unknownDevice);
  return texts.device(browser, system ?? '');
}

export function SessionsSection() {
  const sessions = useLoad((signal) =>
    http.json<{ sessions: readonly SessionRecord[] }>('GET', 'auth/sessions', { signal }),
  );
  const [isLeaving, setLeaving] = useState(false);

  async function end(sessionId?: string) {
    try {
      const { revoked } = await revoke({ ...(sessionId && { sessionId }) });
      toast({ text: texts.ended(revoked) });
      await sessions.reload();
    } catch (error) {
      toast({ text: messageOf(error), tone: 'bad' });
    }
  }

  return (
    <>
      <p class="quiet">{texts.hint}</p>
      <Loaded of={sessions} loadingLabel={settingsTexts.loading} retryLabel={settingsTexts.retry}>
        {({ sessions: all }) => (
          <>
            <ul class="settings-rows">
              {all.map((each) => (
                <SessionRow key={each.id} session={each} onEnd={() => end(each.id)} />
              ))}
            </ul>
            <div class="settings-foot">
              {all.length > 1 && <Button onClick={() => end()}>{texts.endOthers}</Button>}
              <Button variant="danger" onClick={() => setLeaving(true)}>
                {texts.everywhere}
              </Button>
            </div>
          </>
        )}
      </Loaded>
      {isLeaving && (
        <ConfirmDialog
          title={texts.everywhere}
          text={texts.everywhereText}
          confirmLabel={texts.everywhere}
          cancelLabel={settingsTexts.cancel}
          danger
          onConfirm={async () => {
            await revoke({});
            await signOut();
          }}
          onClose={() => setLeaving(false)}
        />
      )}
    </>
  );
}

function SessionRow({ session, onEnd }: { session: SessionRecord; onEnd: () => Promise<void> }) {
  const { createdAt, lastUsedAt, ip, userAgent, isCurrentSession } = session;
  const [isEnding, setEnding] = useState(false);
  const device = deviceName(userAgent);
  return (
    <li>
      <div class="about" title={userAgent}>
        <strong>{device}</strong>
        {isCurrentSession && <span class="tag">{texts.current}</span>}
        <p>
          {ip} · {texts.signedIn} <Time at={createdAt}>{relativeTime(createdAt)}</Time> · {texts.lastUsed}{' '}
          <Time at={lastUsedAt}>{relativeTime(lastUsedAt)}</Time>
        </p>
      </div>
      {!isCurrentSession && (
        <Button
          small
          busy={isEnding}
          aria-label={texts.endLabel(device)}
          onClick={() => {
            setEnding(true);
            void onEnd().finally(() => setEnding(false));
          }}
        >
          {texts.end}
        </Button>
      )}
    </li>
  );
}
