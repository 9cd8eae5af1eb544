/** How people are shown to each other. */
import type { User } from '../../../domain/chat/roster.js';

/** Somebody as others are told of them. */
export type UserView = Pick<User, 'id' | 'userName' | 'isAdmin' | 'createdAt'>;

export const userView = ({ id, userName, isAdmin, createdAt }: User): UserView => ({
  id,
  userName,
  isAdmin,
  createdAt,
});
