/** A node announces the URLs at which it can be reached, with the scheme that its listeners speak. */
import t from 'tap'
import { adminUrlOf, dataUrlOf, signedUrlBaseOf } from '../../src/config/listener-urls.ts'
import { MemoryServices } from '../helpers/memory-services.ts'

t.test('the URLs of the listeners', async (t) => {
  const { config } = (await MemoryServices.start(t)).services
  const listeners = { ...config.listeners, data: '10.0.0.1:9000', admin: '10.0.0.1:9001', publicUrl: null }
  const tls = { cert: '/c.pem', key: '/c.key' }

  await t.test('have the scheme of their listener', async (t) => {
    t.equal(dataUrlOf({ listeners, dataTls: null }), 'http://10.0.0.1:9000')
    t.equal(dataUrlOf({ listeners, dataTls: tls }), 'https://10.0.0.1:9000')
    t.equal(adminUrlOf({ listeners, adminTls: null }), 'http://10.0.0.1:9001')
    t.equal(adminUrlOf({ listeners, adminTls: tls }), 'https://10.0.0.1:9001')
  })

  await t.test('are those of the proxy, where one is configured', async (t) => {
    const behind = { ...listeners, publicUrl: 'https://data.example' }
    t.equal(dataUrlOf({ listeners: behind, dataTls: null }), 'https://data.example')
    t.equal(signedUrlBaseOf({ listeners: behind, dataTls: null }), 'https://data.example')
    const apart = { ...behind, contentOrigin: 'https://content.example' }
    t.equal(signedUrlBaseOf({ listeners: apart, dataTls: null }), 'https://content.example')
  })
})
