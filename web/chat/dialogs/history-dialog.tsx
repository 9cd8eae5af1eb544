/** All versions of a message, newest first. */
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Failed, Loading } from '../../shared/components/states.js';
import { fullTime } from '../../shared/components/time.js';
import type { Message, Version } from '../contract.js';
import { MessageFiles } from '../files/message-files.js';
import { texts } from '../texts/workspace.js';
import { MessageText } from '../timeline/message-text.js';
import { useWorkspace } from '../workspace/context.js';

export function HistoryDialog({ message, onClose }: { message: Message; onClose: () => void }) {
  const { actions } = useWorkspace();
  const [versions, setVersions] = useState<readonly Version[]>();
  const [error, setError] = useState<unknown>();
  function load() {
    setError(undefined);
    actions.history(message).then(setVersions, setError);
  }
  useEffect(load, []);
  return (
    <Dialog title={texts.history} closeLabel={texts.close} onClose={onClose}>
      {error !== undefined && <Failed error={messageOf(error)} retry={load} />}
      {!versions && error === undefined && <Loading />}
      <ol class="versions" reversed>
        {versions?.toReversed().map((version, index) => (
          <li key={version.createdAt}>
            <p class="quiet">
              {fullTime(version.createdAt)}
              {index === 0 && <span class="tag">{texts.currentVersion}</span>}
            </p>
            <MessageText message={{ ...version, updatedAt: null }} />
            <MessageFiles placeId={message.channelId} images={version.images} attachments={version.attachments} />
          </li>
        ))}
      </ol>
    </Dialog>
  );
}
