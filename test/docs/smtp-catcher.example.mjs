import { SMTPServer } from 'smtp-server';

// Accepts every mail, delivers none, and prints it.
new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  onData: async (stream, _session, done) => {
    const mail = Buffer.concat(await stream.toArray()).toString();
    console.log(mail);
    done();
  },
}).listen(process.env.PORT, '127.0.0.1');
