/** Rejections of channel commands. */
import type { Rejection } from '../shared/index.js';

export const CHANNEL_NAME_LENGTH = 80;
export const TOPIC_LENGTH = 500;

export const notYours: Rejection = {
  rejected: 'chat/not-your-channel',
  kind: 'forbidden',
  detail: 'Only the creator or an admin may change this channel',
};
export const nameTaken: Rejection = {
  rejected: 'chat/channel-exists',
  kind: 'invalid',
  detail: 'A channel with this name already exists',
};
export const badName: Rejection = {
  rejected: 'chat/bad-channel-name',
  kind: 'invalid',
  detail: `name must be 1 to ${CHANNEL_NAME_LENGTH} characters`,
};
export const badTopic: Rejection = {
  rejected: 'chat/bad-topic',
  kind: 'invalid',
  detail: `topic must be at most ${TOPIC_LENGTH} characters`,
};
