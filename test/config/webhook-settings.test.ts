/**
 * Which webhooks the settings allow: ports that exist, and origins that are open to no more than was written.
 */
import t, { type Test } from 'tap'
import { effectiveSettings, effectiveText } from '../../src/config/effective-settings.ts'
import { plainPath } from '../../src/config/plain-path.ts'
import { examined, reportedFaults, SMALLEST } from './written-config.ts'

const written = (t: Test, line: string) => examined(t, `${SMALLEST}notifications:\n  ${line}\n`)
const INTERNAL = 'https://hooks.internal:8443'

t.test('notifications.allow_ports', async (t) => {
  for (const [value, ports] of [
    ['443', [443]],
    ['1, 65535', [1, 65_535]],
    ['[443, 9443]', [443, 9443]],
  ] as const) {
    const found = written(t, `allow_ports: ${value}`)
    t.same(found.config?.notifications.allowPorts, ports)
    t.same(examined(t, effectiveText(effectiveSettings(found))).config, found.config, 'printed as it is')
  }
  for (const value of ['443,0', '65536', '99999', '443,', '-1', '4.5', 'https', '[443, [80]]'])
    t.match(
      reportedFaults(written(t, `allow_ports: ${value}`)),
      [
        /^5: The setting 'notifications\.allow_ports' is wrong: expected ports such as 443,8443, each a whole number from 1 to 65535, got '/,
      ],
      value,
    )
  t.match(reportedFaults(written(t, `allow_ports: ${Array.from({ length: 101 }, () => 443).join(',')}`)), [
    /expected 1 to 100 ports, got 101/,
  ])
})

t.test('notifications.allow_origins', async (t) => {
  const allowed = (t: Test, value: string) =>
    written(t, `allow_origins: ${value}`).config?.notifications.allowOrigins
  const plain = { origin: INTERNAL, tenants: null, paths: null }
  const limited = { origin: INTERNAL, tenants: ['acme', 'b-2'], paths: ['/hooks/acme', '/caf%C3%A9/'] }
  const entry = `{origin: '${INTERNAL}', tenants: [acme, b-2], paths: [/hooks/%61cme, /café/]}`

  t.test('takes plain origins, which are open to all, and entries with tenants and paths', async (t) => {
    t.same(allowed(t, `${INTERNAL}, http://127.0.0.1:9099`), [
      plain,
      { ...plain, origin: 'http://127.0.0.1:9099' },
    ])
    t.same(allowed(t, `['${INTERNAL}', ${entry}]`), [plain, limited])
    t.same(allowed(t, `[{origin: '${INTERNAL}', paths: [/a]}]`), [{ ...plain, paths: ['/a'] }])
    const found = written(t, `allow_origins: ['${INTERNAL}', ${entry}]`)
    t.same(examined(t, effectiveText(effectiveSettings(found))).config, found.config, 'printed as they are')
  })

  t.test('is given by the environment as texts or as a list', async (t) => {
    const given = (text: string) =>
      examined(t, SMALLEST, { HOLDFAST_NOTIFICATIONS__ALLOW_ORIGINS: text }).config?.notifications
        .allowOrigins
    t.same(given(`${INTERNAL},https://other.internal`), [
      plain,
      { ...plain, origin: 'https://other.internal' },
    ])
    t.same(given(`[${entry}]`), [limited])
    t.same(given(''), [])
  })

  t.test('refuses what could be open to more than was meant', async (t) => {
    for (const [value, says] of [
      ["['https://hooks.internal/']", /expected an origin such as/],
      ['[{tenants: [acme]}]', /entry 1: expected an origin, as in/],
      [
        `[{origin: '${INTERNAL}', tenant: acme}]`,
        /entry 1: unknown field 'tenant', expected origin, tenants, paths/,
      ],
      [
        `['${INTERNAL}', {origin: '${INTERNAL}', tenants: []}]`,
        /entry 2: tenants: expected a list of 1 to 1000 texts/,
      ],
      [`[{origin: '${INTERNAL}', tenants: acme}]`, /entry 1: tenants: expected a list/],
      [`[{origin: '${INTERNAL}', tenants: [7]}]`, /entry 1: tenants: expected a list of 1 to 1000 texts/],
      [`[{origin: '${INTERNAL}', tenants: [Acme]}]`, /expected tenants by their ids.*got 'Acme'/],
      [`[{origin: '${INTERNAL}', paths: [hooks]}]`, /expected paths such as \/hooks\/acme.*got 'hooks'/],
      [`[{origin: '${INTERNAL}', paths: ['/a/../b']}]`, /got '\/a\/\.\.\/b'/],
      [`[{origin: '${INTERNAL}', paths: ['/a%2Fb']}]`, /expected paths/],
      [`[{origin: '${INTERNAL}', paths: ['/a?b']}]`, /expected paths/],
      [`[{origin: '${INTERNAL}', paths: [null]}]`, /paths: expected a list/],
      [`{origin: '${INTERNAL}'}`, /expected a list of origins/],
    ] as const)
      t.match(reportedFaults(written(t, `allow_origins: ${value}`)), [says], value)
  })
})

t.test('plainPath has one spelling for a path, and none for one that can be read in two ways', async (t) => {
  for (const [path, plain] of [
    ['/a/b', '/a/b'],
    ['/%61%2d%7E/', '/a-~/'],
    ['/%c3%a9%20', '/%C3%A9%20'],
    ['//a//', '//a//'],
    ['/...', '/...'],
  ] as const)
    t.equal(plainPath(path), plain)
  for (const path of [
    '/a%2fb',
    '/a%5Cb',
    '/%252e',
    '/a%3bb',
    '/%00',
    '/%',
    '/%g1',
    '/..;/a',
    '/.;x',
    '/%2E%2E/a',
  ])
    t.equal(plainPath(path), null, path)
})
