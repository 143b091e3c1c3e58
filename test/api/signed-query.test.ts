/**
 * What stands in the query of a signed URL beside its token.
 */
import t from 'tap'
import { SignedClient } from './signed-client.ts'

t.test('a signed URL works with what mailers append [signed-urls.query]', async (t) => {
  const signed = await SignedClient.start(t)
  const { films } = signed
  await films.put('in/a.txt')
  const url = await signed.link({ method: 'GET', key: 'in/a.txt' })
  const appended = [
    '&fbclid=1',
    '&utm_source=a&utm_source=b',
    '&x=%ff',
    '&Token=x',
    '&%74oken=x',
    '&&=',
    '&token2',
  ]
  const upload = await signed.link({ method: 'PUT', key: 'in/p.txt' })
  const admin = await films.asAdmin()
  const rules = [{ allowedOrigins: ['https://page.example'], allowedMethods: ['GET'] }]
  const path = '/api/v1/buckets/films/cors'
  await admin.ask({ method: 'PUT', path, body: { rules } })
  const preflight = { origin: 'https://page.example', 'access-control-request-method': 'GET' }
  for (const more of appended) {
    t.equal((await signed.get(`${url}${more}`)).status, 200, more)
    t.equal((await signed.world.call({ method: 'HEAD', path: `${url}${more}` })).status, 200, more)
    t.equal((await signed.put(`${upload}${more}`)).status, 200, more)
    const options = { method: 'OPTIONS', path: `${url}${more}`, headers: preflight }
    t.equal((await signed.world.call(options)).status, 204, more)
    const before = url.replace('?', `?${more.slice(1)}&`)
    t.equal((await signed.get(before)).status, 200, `${more} before`)
  }
  const bearer = await films.get('in/a.txt?fbclid=1')
  t.match(bearer, { status: 400, code: 'invalid_argument' }, 'nowhere else')
})
