/**
 * Who logged in, and with which role, from the claims of the provider. Pure.
 *
 * Rules: issuer and subject name a person, because names may change; the first rule whose group the person has decides; a person with none of the groups has
 * no role. A text of a claim is cut and made printable before it is shown or stored.
 */
import { createHash } from 'node:crypto'
import { UNPRINTABLE } from '../../base/printable.ts'
import { Refusal } from '../../base/refusal.ts'
import type { OidcSettings, RoleRule } from '../../config/types.ts'
import type { AdminUser } from '../../state-machine/tenants/records.ts'

export type Claims = Readonly<Record<string, unknown>>

export interface Person {
  readonly user: AdminUser
  /** For people: the audit log shows it. */
  readonly name: string
  readonly rule: RoleRule
}

const GROUPS_MAX = 2_000
const NAME_CHARACTERS_MAX = 128
/** Of the specification of OpenID Connect. */
const SUBJECT_CHARACTERS_MAX = 255
const USER_ID_CHARACTERS = 32

/** Throws Refusal access_denied where no rule fits, invalid_credentials where the claims name no person. */
export function personOf(
  claims: Claims,
  settings: Pick<OidcSettings, 'issuer' | 'groupsClaim' | 'nameClaim' | 'rules'>,
): Person {
  const subject = textOf(claims['sub'])
  if (subject === null || subject.length > SUBJECT_CHARACTERS_MAX)
    throw new Refusal('invalid_credentials', 'The identity provider did not say who logged in')
  const { issuer, rules } = settings
  const name = nameOf(claims, settings.nameClaim) ?? subject.slice(0, NAME_CHARACTERS_MAX)
  const groups = groupsOf(claims, settings.groupsClaim)
  const rule = rules.find(({ group }) => groups.has(group))
  if (rule === undefined)
    throw new Refusal('access_denied', `No group of '${name}' has a role here (console.oidc.rules)`)
  return { user: { id: userIdOf(issuer, subject), issuer, subject }, name, rule }
}

/** The same for the same person at each log-in and every node. */
export function userIdOf(issuer: string, subject: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('hex')
  return `usr_${digest.slice(0, USER_ID_CHARACTERS)}`
}

function nameOf(claims: Claims, claim: string): string | null {
  const name = textOf(claimAt(claims, claim))
  return name === null ? null : name.trim().slice(0, NAME_CHARACTERS_MAX) || null
}

/** A list of texts, or one text. Anything else has no groups. */
function groupsOf(claims: Claims, claim: string): ReadonlySet<string> {
  const value = claimAt(claims, claim)
  const listed: readonly unknown[] = Array.isArray(value) ? value.slice(0, GROUPS_MAX) : [value]
  return new Set(listed.filter((one) => typeof one === 'string'))
}

/** The claim of this name, or the member that its dots lead to. */
export function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let found: unknown = claims
  for (const part of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined
    found = (found as Claims)[part]
  }
  return found
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && !UNPRINTABLE.test(value) ? value : null
}
