/** Rejections of commands on messages, reactions and threads. */
import type { Rejection } from '../shared/index.js';
import { MAX_REACTIONS, MAX_REACTIONS_EVER } from './reactions.js';
import { MAX_REPLIES } from './thread.js';

export const messageNotFound: Rejection = {
  rejected: 'chat/message-not-found',
  kind: 'not-found',
  detail: 'Message not found',
};
export const notAuthor: Rejection = {
  rejected: 'chat/not-the-author',
  kind: 'forbidden',
  detail: 'Only the author may do this',
};
export const emptyMessage: Rejection = {
  rejected: 'chat/empty-message',
  kind: 'invalid',
  detail: 'A message needs content, an attachment or an image',
};
/** The edit is based on content that has changed; prepare it again. */
export const replyChanged: Rejection = { rejected: 'chat/reply-changed', kind: 'conflict' };
export const tooManyReactions: Rejection = {
  rejected: 'chat/too-many-reactions',
  kind: 'invalid',
  detail: `At most ${MAX_REACTIONS} reactions per user and message, ${MAX_REACTIONS_EVER} including removed ones`,
};
export const tooManyReplies: Rejection = {
  rejected: 'chat/too-many-replies',
  kind: 'invalid',
  detail: `At most ${MAX_REPLIES} replies per user to one message; post a new message`,
};
export const notInDirect = (what: string): Rejection => ({
  rejected: 'chat/not-in-direct-messages',
  kind: 'invalid',
  detail: `Direct messages ${what}`,
});
