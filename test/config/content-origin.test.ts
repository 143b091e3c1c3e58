/**
 * The origin of contents: an origin and nothing more, at another host than the API.
 */
import t, { type Test } from 'tap'
import { examined, reportedFaults, SMALLEST } from './written-config.ts'

const written = (t: Test, origin: string, more = '') =>
  examined(t, `${SMALLEST}listeners:\n  content_origin: '${origin}'\n${more}`)

t.test('listeners.content_origin', async (t) => {
  t.equal(examined(t, SMALLEST).config?.listeners.contentOrigin, null, 'need not be given')
  for (const origin of ['https://content.example.org', 'http://127.0.0.1:9010', 'https://[::1]:9443'])
    t.equal(written(t, origin).config?.listeners.contentOrigin, origin)
  t.equal(
    written(t, 'HTTPS://Content.example.org:443').config?.listeners.contentOrigin,
    'https://content.example.org',
  )
  for (const wrong of [
    'content.example.org',
    'ftp://x',
    'https://x/',
    'https://x/a',
    'https://a@x',
    'https://x?y',
    '*',
  ])
    t.match(
      reportedFaults(written(t, wrong)),
      [/^5: The setting 'listeners\.content_origin' is wrong: expected an origin such as/],
      wrong,
    )
  const api = '  public_url: https://files.example.org/store\n'
  t.same(reportedFaults(written(t, 'https://content.example.org', api)), [])
  t.match(reportedFaults(written(t, 'https://files.example.org', api)), [
    /content_origin \(https:\/\/files\.example\.org\) is the host at which clients reach the API, https:\/\/files\.example\.org\/store/,
  ])
  t.match(reportedFaults(written(t, 'http://127.0.0.1:9000')), [/is the host at which clients reach the API/])
})
