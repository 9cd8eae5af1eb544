/** A person's fingerprint, to compare with them, and removing them from the conversation. */
import { useSignal } from '@preact/signals';
import { BadgeCheck, ShieldAlert } from 'lucide-preact';
import { Button } from '../../shared/components/button.js';
import { ConfirmDialog, Dialog } from '../../shared/components/dialog.js';
import { Icon } from '../../shared/components/icon.js';
import { holdsKey } from '../conversation.js';
import { useRoom } from '../room/context.js';
import { texts } from '../texts.js';

const words = texts.people;

export function PersonDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const { session } = useRoom();
  const fingerprint = session.roster.fingerprints.value.get(id) ?? '';
  const isRemoving = useSignal(false);
  const key = session.roster.participants.value.find((each) => each.id === id)?.signingPublicKey;
  const member = session.conversation.value.members.get(id);
  const name = member?.name ?? words.nameless;
  const isOwn = id === session.ownId;
  const verification = session.roster.verificationOf(id);
  const isVerified = verification === 'verified';
  const canRemove = !isOwn && member && !session.isExcluded.value && holdsKey(session.conversation.value, id);

  if (isRemoving.value)
    return (
      <ConfirmDialog
        title={words.removeTitle(name)}
        text={words.removeText(name)}
        cancelLabel={texts.cancel}
        confirmLabel={words.removeConfirm}
        danger
        onConfirm={() => session.rotate(new Set([id]))}
        onClose={onClose}
      />
    );
  return (
    <Dialog title={isOwn ? `${name} (${words.you})` : name} closeLabel={texts.close} onClose={onClose}>
      <div>
        <h3>{words.fingerprint}</h3>
        <output class="fingerprint">
          {fingerprint.split(' ').map((group, index) => (
            <span key={index}>{group}</span>
          ))}
        </output>
      </div>
      <p class="quiet">{isOwn ? words.own : words.compare(name)}</p>
      {isVerified && (
        <p class="verified">
          <Icon of={BadgeCheck} /> {words.verified}. <span class="quiet">{words.verifiedText}</span>
        </p>
      )}
      {verification === 'changed' && (
        <p class="fault" role="alert">
          <Icon of={ShieldAlert} /> {words.keyChanged(name)}
        </p>
      )}
      {!isOwn && key && (
        <div class="dialog-actions">
          {canRemove && (
            <Button
              variant="danger"
              onClick={() => {
                isRemoving.value = true;
              }}
            >
              {words.remove}
            </Button>
          )}
          <Button
            {...(!isVerified && { variant: 'main' as const })}
            onClick={() => session.roster.setVerified(id, !isVerified)}
          >
            {isVerified ? words.unverify : words.verify}
          </Button>
        </div>
      )}
    </Dialog>
  );
}
