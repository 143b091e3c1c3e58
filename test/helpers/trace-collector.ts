/** A collector of traces on loopback, as OTLP over HTTP asks for. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
}

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: string }
}

/** With the node that measured it. */
export interface PlacedSpan extends CollectedSpan {
  readonly node: string
}

export class TraceCollector {
  readonly url: string
  readonly spans: PlacedSpan[] = []
  /** Of the next answers; 200 when there are none. */
  readonly statuses: number[] = []

  static async start(t: { teardown(callback: () => unknown): unknown }): Promise<TraceCollector> {
    const server = createServer((request, response) => {
      const pieces: Buffer[] = []
      request.on('data', (piece: Buffer) => pieces.push(piece))
      request.on('end', () => {
        const status = collector.statuses.shift() ?? 200
        if (status === 200) collector.#take(Buffer.concat(pieces).toString())
        response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const collector = new TraceCollector((server.address() as AddressInfo).port)
    t.teardown(() => {
      server.close()
      server.closeAllConnections()
    })
    return collector
  }

  private constructor(port: number) {
    this.url = `http://127.0.0.1:${port}/v1/traces`
  }

  named(name: string): readonly PlacedSpan[] {
    return this.spans.filter((span) => span.name === name)
  }

  #take(text: string): void {
    const { resourceSpans } = JSON.parse(text) as {
      resourceSpans: {
        resource: { attributes: Attribute[] }
        scopeSpans: { spans: CollectedSpan[] }[]
      }[]
    }
    for (const { resource, scopeSpans } of resourceSpans) {
      const named = resource.attributes.find(({ key }) => key === 'service.instance.id')
      const node = named?.value.stringValue ?? ''
      for (const { spans } of scopeSpans) this.spans.push(...spans.map((span) => ({ ...span, node })))
    }
  }
}
