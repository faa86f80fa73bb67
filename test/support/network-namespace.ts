/**
 * A network of its own for a child process, in which every address there is, IPv4 and IPv6, is this machine.
 */
import { type Exit, type Running, start } from './process.ts'

export interface NetworkNamespace {
  /** Starts a program in a namespace that ends with it. */
  start(command: string, args: readonly string[], env?: NodeJS.ProcessEnv): Running
}

/** As root; as anybody, where the machine lets everybody make a user namespace. */
const WAYS_IN = [['-n'], ['-Urn']]

/** AnyIP: a route of type `local` to everywhere. $1 is for machines without `ip`; the rest is the program. */
const SETUP = `
set -e
without_ip=$1
shift
if command -v ip >/dev/null; then
  ip link set lo up
  ip route add local 0.0.0.0/0 dev lo
  ip -6 route add local ::/0 dev lo
else
  perl -e "$without_ip"
fi
exec "$@"`

/** The same by netlink (rtnetlink(7)): RTM_NEWLINK of lo with IFF_UP, then RTM_NEWROUTE for AF_INET and AF_INET6. */
const SETUP_WITHOUT_IP = String.raw`
  socket(my $kernel, 16, 3, 0) or die "netlink: $!\n";
  sub ask {
    my ($type, $flags, $body) = @_;
    syswrite($kernel, pack("LSSLL", 16 + length $body, $type, $flags | 5, 1, 0) . $body) or die "netlink: $!\n";
    sysread($kernel, my $answer, 4096);
    $! = -unpack("x16 l", $answer) and die "netlink: $!\n";
  }
  ask(16, 0, pack("CxSlLL", 0, 0, 1, 1, 1));
  ask(24, 0x400, pack("CCCCCCCCLSSL", $_, 0, 0, 0, 255, 3, 254, 2, 0, 8, 4, 1)) for 2, 10;`

/** The namespace, or why this machine makes none. */
export async function findNamespace(): Promise<NetworkNamespace | { readonly reason: string }> {
  const refusals: string[] = []
  for (const way of WAYS_IN) {
    const within = [...way, 'sh', '-c', SETUP, 'sh', SETUP_WITHOUT_IP]
    const tried = await endOf(start('unshare', [...within, 'true']))
    if (typeof tried !== 'string' && tried.code === 0) {
      return { start: (command, args, env = {}) => start('unshare', [...within, command, ...args], { env }) }
    }
    refusals.push(typeof tried === 'string' ? tried : tried.stderr.trim())
  }
  return { reason: refusals.join('; ') }
}

/** How it ended, or why it did not start. */
async function endOf(running: Running): Promise<Exit | string> {
  return await running.exited.catch((error: unknown) => String(error))
}
