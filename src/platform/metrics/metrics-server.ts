import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Environment } from '../env/environment.js';
import { HTTP_LIMITS } from '../http/http-limits.js';
import { limitPipelining } from '../http/pipelined-requests.js';
import { listenError } from '../http/open-port.js';
import { errorText } from '../redaction/error-text.js';
import { Metrics } from './metrics.js';

/** The maximum number of connections: enough for a few scrapers. */
const CONNECTIONS = 64;

/** Serves GET /metrics on METRICS_PORT, and nothing else there. Does nothing if METRICS_PORT is not set. */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(MetricsServer.name);
  private readonly server = createServer(
    {
      headersTimeout: HTTP_LIMITS.headersMs,
      requestTimeout: HTTP_LIMITS.requestMs,
      maxHeaderSize: HTTP_LIMITS.headerBytes,
    },
    (request, response) => void this.respond(request, response),
  );

  constructor(
    private readonly environment: Environment,
    private readonly metrics: Metrics,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { HOST, METRICS_PORT } = this.environment;
    if (METRICS_PORT === undefined) return;
    this.server.maxConnections = CONNECTIONS;
    this.server.setTimeout(HTTP_LIMITS.idleMs);
    limitPipelining(this.server, HTTP_LIMITS);
    this.server.listen(METRICS_PORT, HOST);
    await once(this.server, 'listening').catch((error: unknown) => {
      throw listenError(error, 'METRICS_PORT', METRICS_PORT, HOST);
    });
    this.logger.log(`metrics are on port ${this.port}`);
  }

  /** Returns the port in use. Throws if METRICS_PORT is not set. */
  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  // Closes in the last hook, so that a stopping process can still be observed.
  onApplicationShutdown(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async respond({ method, url }: IncomingMessage, response: ServerResponse): Promise<void> {
    if ((method !== 'GET' && method !== 'HEAD') || url?.split('?')[0] !== '/metrics')
      return void response.writeHead(404).end();
    try {
      const text = await this.metrics.read();
      response.writeHead(200, { 'content-type': this.metrics.registry.contentType }).end(text);
    } catch (error) {
      this.logger.error(`the metrics could not be collected: ${errorText(error)}`);
      response.writeHead(500).end();
    }
  }
}
