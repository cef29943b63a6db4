import { failure } from '../../workflows/shared/failures.ts';
import { digestOf } from './kept-passwords.ts';

/** One user of an ACL file, with its rules as they stand there. */
export interface AclUser {
  readonly name: string;
  readonly rules: readonly string[];
}

/** Reads an ACL file as a server would; what is no user is refused by its line, never by its words. */
export function parseAclFile(text: string): readonly AclUser[] {
  return text.split('\n').flatMap((line, at): AclUser[] => {
    const [word = '', name = '', ...rules] = line.trim().split(/\s+/);
    if (word === '' || word.startsWith('#')) return [];
    if (word !== 'user' || name === '')
      throw failure('ValkeyAcl', `line ${at + 1} of the ACL Secret does not begin with "user" and a name`);
    return [{ name, rules }];
  });
}

/** Why a file would lock us out, in words; null when its user still takes our password. */
export function refuseAcl(users: readonly AclUser[], admin: string, password: string): string | null {
  const rules = users.find(({ name }) => name === admin)?.rules;
  if (rules === undefined) return `the ACL Secret has no user ${admin}, whom spec.auth.acl.adminUser names`;
  if (rules.lastIndexOf('on') <= rules.lastIndexOf('off'))
    return `the ACL Secret has user ${admin} switched off`;
  const takes = new Set([`>${password}`, `#${digestOf(password)}`, 'nopass']);
  return rules.some((rule) => takes.has(rule))
    ? null
    : `the ACL Secret does not give user ${admin} the password that spec.auth.secretRef names`;
}
