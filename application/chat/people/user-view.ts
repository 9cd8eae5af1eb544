/** Public view of a user. */
import type { User } from '../../../domain/chat/roster.js';

/** User as shown to others. */
export type UserView = Pick<User, 'id' | 'userName' | 'isAdmin' | 'createdAt'>;

export const userView = ({ id, userName, isAdmin, createdAt }: User): UserView => ({
  id,
  userName,
  isAdmin,
  createdAt,
});
