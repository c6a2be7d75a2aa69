// Preloaded (node --import): whatever listens, does so on the loopback interface only.
import { Server } from 'node:net';

const { listen } = Server.prototype;

Server.prototype.listen = function (first, ...rest) {
	const done = rest.filter((arg) => typeof arg === 'function');
	const options = first !== null && typeof first === 'object' ? first : { port: Number(first) };

	return listen.call(this, 'port' in options ? { ...options, host: '127.0.0.1' } : options, ...done);
};
