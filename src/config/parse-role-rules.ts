/**
 * Parses `console.oidc.rules`: which group of the identity provider has which role.
 *
 * Rule: as in parse-value.ts, an error names what was read and what is accepted. An unknown field is refused: a misspelled limit
 * would otherwise be ignored.
 */
import { ValueError } from './parse-value.ts'
import type { RoleRule } from './types.ts'

/** As the admin API names them. */
const ROLES: readonly RoleRule['role'][] = ['auditor', 'viewer', 'operator', 'owner']
const RULES_MAX = 200
const GROUP_CHARACTERS_MAX = 256
const FIELDS = ['group', 'role', 'tenant', 'keys']
const EXAMPLE = '{group: storage-admins, role: owner}'

export function parseRoleRules(value: unknown): readonly RoleRule[] {
  if (value === '') return []
  if (!Array.isArray(value)) throw new ValueError(`expected a list of rules such as ${EXAMPLE}`)
  if (value.length > RULES_MAX)
    throw new ValueError(`expected at most ${RULES_MAX} rules, got ${value.length}`)
  return value.map((entry: unknown, n) => parseRule(entry, `rule ${n + 1}`))
}

function parseRule(entry: unknown, where: string): RoleRule {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    throw new ValueError(`${where}: expected ${EXAMPLE}`)
  const { group, role, tenant = null, keys = true } = entry as Readonly<Record<string, unknown>>
  const unknown = Object.keys(entry).find((field) => !FIELDS.includes(field))
  if (unknown !== undefined)
    throw new ValueError(`${where}: unknown field '${unknown.slice(0, 100)}', expected ${FIELDS.join(', ')}`)
  if (typeof group !== 'string' || group === '' || group.length > GROUP_CHARACTERS_MAX)
    throw new ValueError(`${where}: group is a text of 1 to ${GROUP_CHARACTERS_MAX} characters`)
  if (!isRole(role)) throw new ValueError(`${where}: role is one of ${ROLES.join(', ')}`)
  if (tenant !== null && (typeof tenant !== 'string' || !/^[a-z0-9-]+$/.test(tenant)))
    throw new ValueError(`${where}: tenant is an id of lower-case letters, digits and hyphens`)
  if (typeof keys !== 'boolean')
    throw new ValueError(`${where}: keys is true or false: whether the person makes access keys`)
  return { group, role, tenantId: tenant, mayMakeKeys: keys }
}

const isRole = (value: unknown): value is RoleRule['role'] => ROLES.some((role) => role === value)
