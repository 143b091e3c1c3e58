/**
 * Which person and which role the claims of a provider make: the first rule that fits, and no role without one.
 */
import t from 'tap'
import { type Claims, personOf, userIdOf } from '../../../src/access/oidc/person.ts'
import type { RoleRule } from '../../../src/config/types.ts'

const ISSUER = 'https://id.example'
const RULES: readonly RoleRule[] = [
  { group: 'storage-admins', role: 'owner', tenantId: null, mayMakeKeys: false },
  { group: 'acme-ops', role: 'operator', tenantId: 'acme', mayMakeKeys: true },
]

function of(claims: Claims, more: { readonly groupsClaim?: string; readonly nameClaim?: string } = {}) {
  const settings = { groupsClaim: 'groups', nameClaim: 'preferred_username', ...more }
  return personOf({ sub: 's1', ...claims }, { issuer: ISSUER, rules: RULES, ...settings })
}

t.test('a role', async (t) => {
  t.match(of({ groups: ['x', 'acme-ops'] }).rule, { role: 'operator', tenantId: 'acme' })
  t.match(
    of({ groups: ['acme-ops', 'storage-admins'] }).rule,
    { role: 'owner', mayMakeKeys: false },
    'the first rule',
  )
  t.match(of({ groups: 'acme-ops' }).rule, { role: 'operator' }, 'one text')
  const nested = { realm_access: { roles: ['storage-admins'] } }
  t.match(of(nested, { groupsClaim: 'realm_access.roles' }).rule, { role: 'owner' })
  t.match(
    of({ 'https://x.example/groups': ['acme-ops'] }, { groupsClaim: 'https://x.example/groups' }).rule,
    {
      role: 'operator',
    },
  )
  const NONE = { code: 'access_denied', message: /No group of 'al' has a role/ }
  for (const groups of [
    [],
    ['storage-admin'],
    undefined,
    null,
    7,
    { a: 'acme-ops' },
    [['acme-ops']],
    'STORAGE-ADMINS',
  ])
    t.throws(() => of({ preferred_username: 'al', groups }), NONE, JSON.stringify(groups))
  t.throws(() => of({}, { groupsClaim: '__proto__.x' }), { code: 'access_denied' })
})

t.test('a person', async (t) => {
  const named = (claims: Claims) => of({ groups: ['acme-ops'], ...claims }).name
  t.equal(named({ preferred_username: ' alice ' }), 'alice')
  for (const preferred_username of [undefined, '', '   ', 7, 'a\nb', '\u0007'])
    t.equal(named({ preferred_username }), 's1', 'the subject where there is no good name')
  t.equal(named({ preferred_username: 'x'.repeat(500) }).length, 128)
  t.same(of({ groups: ['acme-ops'] }).user, { id: userIdOf(ISSUER, 's1'), issuer: ISSUER, subject: 's1' })
  t.not(userIdOf(ISSUER, 's1'), userIdOf(`${ISSUER}/`, 's1'))
  for (const sub of [undefined, '', 7, 'x'.repeat(256), 'a\u0000b'])
    t.throws(() => of({ sub, groups: ['acme-ops'] }), { code: 'invalid_credentials' })
})
