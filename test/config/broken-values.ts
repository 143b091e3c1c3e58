/**
 * How the value of a setting can be wrong: for each kind of setting, texts that no node accepts.
 *
 * Rule: rows follow from the definition of a setting, so a new setting is broken in every way of its kind without a line here.
 */
import type { Setting, SettingKind } from '../../src/config/settings/setting.ts'

export interface BrokenValue {
  /** What is wrong with it. */
  readonly what: string
  /** As it is written after the colon. */
  readonly text: string
}

const WRONG: Readonly<Record<SettingKind, Readonly<Record<string, string>>>> = {
  text: { 'an empty text': '""', 'a text outside of the pattern': '"not @ this\\n"' },
  path: { 'an empty path': '""' },
  address: {
    'a host without a port': 'localhost',
    'a port beyond 65535': '127.0.0.1:70000',
    'an address that is none of IPv4': '256.0.0.1:9000',
    'an address that is none of IPv6': '"[1:2]:9000"',
    'a URL': 'http://127.0.0.1:9000',
  },
  duration: { 'a number without a unit': '10', 'an unknown unit': '10 weeks', 'a negative duration': '-1s' },
  bytes: { 'an unknown unit': '10 gallons', 'a fraction of a byte': '1.5', 'a negative size': '-1MiB' },
  percent: { 'a share without a sign': '0.85', 'more than all': '101%' },
  integer: {
    'a fraction': '1.5',
    'a negative number': '-1',
    'a word': 'many',
    'a number with a unit': '10MiB',
  },
  boolean: { 'a word of YAML 1.1': 'yes', 'a number': '1' },
  members: {
    'no list': 'n1',
    'an empty list': '[]',
    'an unknown field': '[{id: n1, peer: "127.0.0.1:9002", role: voter}]',
    'a member without an address': '[{id: n1}]',
    'an address without a port': '[{id: n1, peer: 127.0.0.1}]',
    'an id twice': '[{id: n1, peer: "127.0.0.1:9002"}, {id: n1, peer: "127.0.0.1:9012"}]',
    'a weight of nothing': '[{id: n1, peer: "127.0.0.1:9002", weight: 0}]',
  },
  level: { 'an unknown level': 'loud' },
  origin: { 'a host without a scheme': 'content.example.org', 'a path': 'https://content.example.org/a' },
  origins: {
    'a host without a scheme': '[hooks.internal]',
    'an unknown field': '[{origin: "https://hooks.internal", tenant: acme}]',
  },
  roleRules: {
    'no list': 'admins',
    'an unknown role': '[{group: admins, role: root}]',
    'an unknown field': '[{group: admins, role: owner, tenants: [acme]}]',
    'a rule without a group': '[{role: owner}]',
  },
  paths: { 'an empty path': '[a, ""]', 'a list in the list': '[[a]]' },
  ports: { 'port 0': '[0]', 'a port beyond 65535': '443,70000', 'a name': 'https' },
  networks: { 'a name': '[proxy.internal]', 'a range of most addresses': '[0.0.0.0/0]' },
}

const UNIT: Readonly<Partial<Record<SettingKind, string>>> = { duration: 'ms', percent: '%' }
const LISTS: readonly SettingKind[] = ['members', 'origins', 'roleRules', 'paths', 'ports', 'networks']

export function brokenValues(setting: Setting): readonly BrokenValue[] {
  const { kind, min, max, isUrl } = setting
  const unit = UNIT[kind] ?? ''
  const outside = [
    ...(min !== undefined && min > 0 ? [{ what: 'less than the least', text: `${min - 1}${unit}` }] : []),
    ...(max === undefined ? [] : [{ what: 'more than the most', text: `${max + 1}${unit}` }]),
  ]
  return [
    { what: 'a section instead of a value', text: '{ a: b }' },
    ...(LISTS.includes(kind) ? [] : [{ what: 'a list instead of a value', text: '[a, b]' }]),
    { what: 'no value', text: '' },
    ...Object.entries(WRONG[kind]).map(([what, text]) => ({ what, text })),
    ...outside,
    ...(isUrl === true ? [{ what: 'a URL with a broken host', text: '"https://["' }] : []),
  ]
}
