/**
 * The scopes text in both forms: what each text means, and which texts are refused.
 */
import t from 'tap'
import { DEFAULT_SCOPES, parseScopes } from '../../src/access/scopes.ts'

const everywhere = { bucket: '*', prefix: '' }

t.test('parseScopes', async (t) => {
  t.test('reads verb lists as all buckets and keys', async (t) => {
    t.strictSame(parseScopes('read'), [{ verb: 'read', ...everywhere }])
    t.strictSame(
      parseScopes('read, write,delete ,admin').map((scope) => scope.verb),
      ['read', 'write', 'delete', 'admin'],
    )
    t.strictSame(
      parseScopes(DEFAULT_SCOPES).map((scope) => scope.verb),
      ['read', 'write', 'delete'],
    )
  })

  t.test('reads resource entries, whose prefix runs to the next comma', async (t) => {
    t.strictSame(parseScopes('op=read:bucket=photos:prefix=in/,op=write:bucket=*:prefix='), [
      { verb: 'read', bucket: 'photos', prefix: 'in/' },
      { verb: 'write', ...everywhere },
    ])
    t.strictSame(parseScopes('op=read:bucket=photos:prefix=a:b=c:prefix=d/é \n'), [
      { verb: 'read', bucket: 'photos', prefix: 'a:b=c:prefix=d/é \n' },
    ])
  })

  t.test('refuses with invalid_argument and names the entry', async (t) => {
    const bad: [text: string, named: string][] = [
      ['', "''"],
      [' ', "''"],
      [',', "''"],
      ['read,', "''"],
      ['READ', "'READ'"],
      ['list', "'list'"],
      ['read,*', "'*'"],
      ['toString', "'toString'"],
      ['op=list:bucket=photos:prefix=', 'op=list'],
      ['op=:bucket=photos:prefix=', 'op='],
      ['op=read', "'op=read'"],
      ['op=read:bucket=photos', 'op=read:bucket=photos'],
      ['op=read:prefix=:bucket=photos', 'op=read:prefix='],
      ['op=read:bucket=:prefix=', "''"],
      ['op=read:bucket=Photos:prefix=', "'Photos'"],
      ['op=read:bucket=photo*:prefix=', "'photo*'"],
      ['op=read:bucket=photos:prefix=,', "''"],
      [`op=read:bucket=photos:prefix=${'x'.repeat(1025)}`, '1024 bytes'],
      ['x'.repeat(10_000), '8192'],
      [Array.from({ length: 101 }, () => 'read').join(), '100'],
    ]
    for (const [text, named] of bad) {
      t.throws(
        () => parseScopes(text),
        { code: 'invalid_argument', message: new RegExp(escape(named)) },
        text.slice(0, 60),
      )
    }
  })

  t.test('refuses to mix the forms, so that a comma in a prefix never grants anything', async (t) => {
    for (const text of [
      'op=read:bucket=photos:prefix=a,write',
      'write,op=read:bucket=photos:prefix=a',
      'read, op=x',
    ]) {
      t.throws(() => parseScopes(text), { code: 'invalid_argument' }, text)
    }
  })
})

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
