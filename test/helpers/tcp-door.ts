/**
 * A port of this machine that leads to another one, and can be shut: every connection breaks, and none is let in.
 */
import { createServer, connect, type Server, type Socket } from 'node:net'

interface Teardown {
  teardown(callback: () => unknown): unknown
}

export class TcpDoor {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isOpen = true

  /** `port`: where it listens. `to`: the port behind it. */
  static async open(t: Teardown, port: number, to: number): Promise<TcpDoor> {
    const door = new TcpDoor(to)
    t.teardown(() => door.#close())
    await new Promise<void>((resolve, reject) => {
      door.#server.once('error', reject)
      door.#server.listen(port, '127.0.0.1', resolve)
    })
    return door
  }

  private constructor(to: number) {
    this.#server = createServer((incoming) => {
      if (!this.#isOpen) {
        incoming.destroy()
        return
      }
      const outgoing = connect(to, '127.0.0.1')
      for (const socket of [incoming, outgoing]) {
        this.#sockets.add(socket)
        socket.on('error', () => undefined)
        socket.on('close', () => {
          this.#sockets.delete(socket)
          incoming.destroy()
          outgoing.destroy()
        })
      }
      incoming.pipe(outgoing).pipe(incoming)
    })
  }

  shut(): void {
    this.#isOpen = false
    for (const socket of this.#sockets) socket.destroy()
  }

  reopen(): void {
    this.#isOpen = true
  }

  #close(): Promise<void> {
    this.shut()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}
