/** Pinned messages of a channel. */
import { Pin } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Empty, Failed, Loading } from '../../shared/components/states.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace } from '../workspace/context.js';
import { showFrom } from '../workspace/view.js';
import { MessageCard } from './message-card.js';
import { PanelFrame } from './panel.js';

export function PinsPanel({ placeId }: { placeId: string }) {
  const { store, actions } = useWorkspace();
  const [error, setError] = useState<unknown>();
  const pins = store.state.value.pins.get(placeId);
  function load() {
    setError(undefined);
    actions.loadPins(placeId).catch(setError);
  }
  useEffect(() => {
    if (!pins) load();
  }, [placeId, !pins]);
  return (
    <PanelFrame title={texts.pins}>
      <div class="panel-content">
        {pins?.map((message) => (
          <MessageCard
            key={message.id}
            message={message}
            onOpen={() => showFrom({ kind: 'pins' }, placeId, message.id)}
          />
        ))}
        {pins?.length === 0 && (
          <Empty icon={Pin} title={texts.noPins}>
            <span>{texts.noPinsHint}</span>
          </Empty>
        )}
        {!pins && (error ? <Failed error={messageOf(error)} retry={load} /> : <Loading />)}
      </div>
    </PanelFrame>
  );
}
