import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseAclFile, refuseAcl } from '../../../activities/valkey/acl-file.ts';

const hash = createHash('sha256').update('sesame').digest('hex');

describe('an ACL file', () => {
  it('is read user by user; comments and empty lines are none', () => {
    const text = '# ours\nuser default on nopass ~* +@all\n\n  user reader on >x  ~a (~b +get)\n';
    expect(parseAclFile(text)).toEqual([
      { name: 'default', rules: ['on', 'nopass', '~*', '+@all'] },
      { name: 'reader', rules: ['on', '>x', '~a', '(~b', '+get)'] },
    ]);
  });

  it('with a line that is no user is refused by its number, and its words are not repeated', () => {
    expect(() => parseAclFile('user a on\nsesame')).toThrow(/^line 2 of the ACL Secret/);
    expect(() => parseAclFile('sesame open')).not.toThrow(/sesame/);
  });

  it.each(['>sesame', `#${hash}`, 'nopass'])('with the rule %s still lets us in', (rule) => {
    expect(refuseAcl(parseAclFile(`user admin on ${rule} +@all`), 'admin', 'sesame')).toBeNull();
  });

  it('that would lock us out is refused', () => {
    const words = refuseAcl(parseAclFile('user admin on >other +@all'), 'admin', 'sesame');
    expect(words).toContain('does not give user admin the password');
  });

  it('that has our user switched off, or not at all, is refused', () => {
    expect(refuseAcl(parseAclFile('user admin on >sesame off'), 'admin', 'sesame')).toContain('switched off');
    expect(refuseAcl(parseAclFile('user other on'), 'admin', 'sesame')).toContain('no user admin');
  });
});
